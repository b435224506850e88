import HTTPCore
import NIOCore
import Operations

/// The body of a request. Each exchange sends the body again, except a sequence.
struct OutgoingBody {
    var description = HTTPRequestBody.none
    var source: HTTPBodySource?

    static let none = OutgoingBody()
}

extension Transfer {
    /// Returns the body for one exchange, and the content type that this body requires.
    ///
    /// - Throws: `TransferFailure` for unreadable files, and for a body that cannot be sent again.
    func upload(_ body: OutgoingBody) throws -> (stream: OutgoingStream?, contentType: String?) {
        if let source = body.source {
            return (try source.take(sending(of: source.length, at: pacing())), nil)
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
        let pacing = pacing()
        let portions = UploadPortions(segments: segments.filter { $0.length > 0 }) { pacing.piece }
        return OutgoingStream(portions, length: length, sending(of: length, at: pacing))
    }

    /// Returns the pacing of one body.
    private func sending(of length: Int64?, at pacing: Pacing) -> Sending {
        let number = record.withLock { $0.beginBody(length: length) }
        return Sending(
            piece: { pacing.piece },
            pass: { [self] count in
                if pacing.isCapped { try await waitingForOthers { try await pacing.pass(count) } }
            },
            whenSent: { [self] count in
                let now = session.ticker.now()
                let isCounted = record.withLock { $0.sent(count, ofBody: number, at: now.wholeNanoseconds) }
                if isCounted { reportProgress() }
            },
            whenGone: { [self] count in
                let now = session.ticker.now()
                pacing.passed(count, at: now)
                record.withLock { $0.lastActivity = now }
            },
            untilTaken: { [connections = session.connections] in await connections.untilLoopsHaveCaughtUp() })
    }
}
