import HTTPCore
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension ResumePoint {
    /// Creates the mark by which the server can later recognize this body; nil if the response has none. A partial response
    /// begins elsewhere, so it cannot be continued.
    init?(beginning head: HTTPResponse, at date: Date = Date()) {
        guard head.status != .partialContent else { return nil }
        self.init(received: 1, response: head, now: date)
    }

    /// Returns the resume point after this number of bytes; nil for no bytes, or for more than the total.
    func after(_ count: Int64) -> ResumePoint? {
        guard count > 0, total.map({ count <= $0 }) ?? true else { return nil }
        return ResumePoint(received: count, validator: validator, total: total)
    }
}
