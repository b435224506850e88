import HTTPCore
import HTTPTypes
import NIOCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The destination of a response body. One task at a time uses the sink, over all attempts of an operation.
protocol BodySink: AnyObject, Sendable {
    /// Whether an interrupted transfer can continue. The body must then not be compressed.
    var prefersRanges: Bool { get }

    /// Returns the point at which an earlier attempt stopped, if its body came from this address and can continue.
    func resumePoint(for address: HTTPAddress) throws -> ResumePoint?

    /// Begins a body at an offset: 0, or the offset of the resume point.
    ///
    /// - Parameter length: The number of bytes that follow; nil if unknown. `Content-Length` can differ: after HEAD no bytes
    ///   follow.
    func begin(at offset: Int64, length: Int64?, _ head: HTTPResponse, at address: HTTPAddress) throws

    func write(_ bytes: ByteBuffer) throws

    /// Whether the sink accepts more bytes now.
    var hasRoom: Bool { get }

    /// Suspends until the sink accepts more bytes, or the task is cancelled.
    func untilRoom() async

    /// Whether a consumer takes the bytes, however slowly.
    var isAttended: Bool { get }

    /// Completes the body.
    func finish() throws

    /// Discards the stored bytes, because the server cannot continue them.
    func forget() throws

    /// Whether the body may start over. False if a consumer has received some of it.
    var mayBeginAnew: Bool { get }

    /// Ends the body early, because the operation has ended without a complete body.
    func abandon(_ failure: any Error)
}

extension BodySink {
    var isAttended: Bool { true }
    var mayBeginAnew: Bool { true }
    var hasRoom: Bool { true }
    func untilRoom() async {}
}

/// A sink that keeps the body in memory, together with the resume point after a pause.
final class MemorySink: BodySink, @unchecked Sendable {
    // Sendable: used by one task at a time.
    private let limit: Int
    private var bytes = Data()
    /// The head of the body's first response and its time, which later make a resume point.
    private var beginning: (head: HTTPResponse, date: Date)?
    /// The address of the bytes. An entity tag is valid for one address only.
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
        // At most 1 MiB: the server may announce any length, and a capacity that cannot be had stops the process.
        bytes.reserveCapacity(bytes.count + Int(min(length, 1 << 20)))
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
