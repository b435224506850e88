#if Networking
import HTTPCore
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension ResumePoint {
    /// By what a body that begins now can be told from others later; nil if it could not. A part's first byte is not the
    /// whole's: so a part is not gone on with.
    init?(beginning head: HTTPResponse, at date: Date = Date()) {
        guard head.status != .partialContent else { return nil }
        self.init(received: 1, response: head, now: date)
    }

    /// The same, when so many bytes are there; nil for none, or more than there should be.
    func after(_ count: Int64) -> ResumePoint? {
        guard count > 0, total.map({ count <= $0 }) ?? true else { return nil }
        return ResumePoint(received: count, validator: validator, total: total)
    }
}
#endif
