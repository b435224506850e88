#if Networking
import HTTPCore
import HTTPTypes
import NIOCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where the body of a response goes. Used by one task at a time, over all attempts of an operation.
protocol BodySink: AnyObject, Sendable {
    /// An interrupted transfer can be gone on with: so what is asked for is not to be compressed.
    var prefersRanges: Bool { get }

    /// What is there of an earlier attempt, if it came from this address and can be continued.
    func resumePoint(for address: HTTPAddress) throws -> ResumePoint?

    /// A response has come whose body begins at this offset: 0, or where the resume point said.
    ///
    /// - Parameter length: How many bytes follow, if that is known. Not what `Content-Length` says: after HEAD none follow.
    func begin(at offset: Int64, length: Int64?, _ head: HTTPResponse, at address: HTTPAddress) throws

    func write(_ bytes: ByteBuffer) throws

    /// False: more is not to be written now.
    var hasRoom: Bool { get }

    /// Suspends until there is room, or the task is cancelled.
    func untilRoom() async

    /// Somebody takes what is written, sooner or later: he may take his time.
    var isAttended: Bool { get }

    /// The body is complete.
    func finish() throws

    /// The server does not continue what is there: it is of no use any more.
    func forget() throws

    /// False: some of the body was given away, and cannot be taken back.
    var mayBeginAnew: Bool { get }

    /// The operation has ended without a complete body.
    func abandon(_ failure: any Error)
}

extension BodySink {
    var isAttended: Bool { true }
    var mayBeginAnew: Bool { true }
    var hasRoom: Bool { true }
    func untilRoom() async {}
}

/// Keeps the body in memory, and what it needs to go on after a pause.
final class MemorySink: BodySink, @unchecked Sendable {
    // Sendable: used by one task at a time.
    private let limit: Int
    private var bytes = Data()
    /// What the body began with, and when: what a resume point is made of, if one is ever asked for.
    private var beginning: (head: HTTPResponse, date: Date)?
    /// Where the bytes come from: a tag says something about one address only.
    private var source: HTTPAddress?

    init(limit: Int) { self.limit = limit }

    var prefersRanges: Bool { false }

    func resumePoint(for address: HTTPAddress) -> ResumePoint? {
        guard address == source, let beginning else { return nil }
        return ResumePoint(beginning: beginning.head, at: beginning.date)?.after(Int64(bytes.count))
    }

    func begin(at offset: Int64, length: Int64?, _ head: HTTPResponse, at address: HTTPAddress) throws {
        if offset == 0 { forget() }
        if offset == 0 { (beginning, source) = ((head, Date()), address) }
        guard let length else { return }
        guard length <= limit - bytes.count else { throw TransferFailure(.bodyTooLarge(limit: limit)) }
        bytes.reserveCapacity(bytes.count + Int(length))
    }

    func write(_ buffer: ByteBuffer) throws {
        guard buffer.readableBytes <= limit - bytes.count else { throw TransferFailure(.bodyTooLarge(limit: limit)) }
        buffer.withUnsafeReadableBytes { bytes.append(contentsOf: $0) }
    }

    func finish() {}

    func forget() { (bytes, beginning) = (Data(), nil) }

    func abandon(_ failure: any Error) { forget() }

    func take() -> Data {
        defer { bytes = Data() }
        return bytes
    }
}
#endif
