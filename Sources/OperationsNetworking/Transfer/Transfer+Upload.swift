#if Networking
import HTTPCore
import NIOCore
import Operations

/// What is sent with a request: again with each exchange, unless it is a sequence.
struct OutgoingBody {
    var description = HTTPRequestBody.none
    var source: HTTPBodySource?

    static let none = OutgoingBody()
}

extension Transfer {
    /// The body for one exchange, and the type that goes with it, if it has one of its own.
    ///
    /// - Throws: `TransferFailure` for files that cannot be read, and for what cannot be sent again.
    func upload(_ body: OutgoingBody) throws -> (stream: OutgoingStream?, contentType: String?) {
        if let source = body.source {
            beginCountingSent(of: source.length)
            return (try source.take(sending(at: pacing())), nil)
        }
        switch body.description {
        case .none: return (nil, nil)
        case .bytes(let data): return (stream([.bytes(data)], of: Int64(data.count)), nil)
        case .file(let path):
            let length = try UploadPortions.OpenFile.length(of: path)
            return (stream([.file(path: path, length: length)], of: length), nil)
        case .multipart(let form):
            let layout = try MultipartLayout(
                form, boundary: MultipartLayout.randomBoundary(), url: record.withLock { $0.url },
                lengthOfFile: UploadPortions.OpenFile.length)
            return (stream(layout.segments, of: layout.contentLength), layout.contentType)
        }
    }

    private func stream(_ segments: [MultipartLayout.Segment], of length: Int64) -> OutgoingStream {
        beginCountingSent(of: length)
        let pacing = pacing()
        let portions = UploadPortions(segments: segments.filter { $0.length > 0 }) { pacing.piece }
        return OutgoingStream(portions, length: length, sending(at: pacing))
    }

    /// What an earlier exchange has sent does not count: this one sends it again.
    private func beginCountingSent(of length: Int64?) { record.withLock { ($0.sent, $0.toSend) = (0, length) } }

    private func sending(at pacing: Pacing) -> Sending {
        Sending(
            pass: { [self] count in
                if pacing.isCapped { try await waitingForOthers { try await pacing.pass(count) } }
            },
            whenSent: { [self] count in
                let now = session.ticker.now()
                pacing.passed(count, at: now)
                record.withLock { record in
                    record.lastActivity = now
                    record.sent += Int64(count)
                    record.metrics.sent += Int64(count)
                    record.meter.record(count, at: now.wholeNanoseconds)
                }
                tellProgress()
            })
    }
}
#endif
