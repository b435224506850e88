import Foundation
import HTTPCore
import HTTPTypes
import HTTPTestServer
@testable import OperationsNetworking
import OperationsTesting
import SystemPackage
import TestSupport

/// The setup of a fault: brings a request to a phase and lets the fault happen there.
struct FaultScene: Sendable {
    /// The destination of the response.
    enum Target: String, CaseIterable, Sendable { case memory, download, stream }

    let cell: FaultCell
    let target: Target
    /// The gate at which the server waits when the request has reached its phase.
    let gate = LoopbackGate()
    /// The gate that the decoder reaches. The decoder then blocks its thread at `mayDecode`.
    let decodes = LoopbackGate()
    let mayDecode = Gate()

    static let body = LoopbackBody.pattern(length: 50_000)
    /// More bytes than the buffers of the system hold.
    static let upload = 64 << 20
    static let resource = LoopbackResource(body, eTag: "\"a\"")

    /// Returns the targets for which the cell is meaningful.
    static func targets(of cell: FaultCell) -> [Target] {
        switch cell.phase {
        case .memory: [.memory]
        case .download: [.download]
        case .stream: [.stream]
        case _ where cell.kind == .diskFull: [.download]
        case .decoding: [.memory]
        // The system repeats a connection attempt only after seconds. The target makes no difference in this phase.
        case .connecting: [.memory]
        default: Target.allCases
        }
    }

    // MARK: - The server

    var configuration: HTTPTestServer.Configuration {
        var configuration = HTTPTestServer.Configuration(protocol: cell.phase == .handshake ? .http1TLS : .http1)
        guard cell.phase == .sending else { return configuration }
        switch cell.kind {
        case .reset, .truncation, .redirectLoop, .challengeLoop: configuration.answersEarly = { _ in true }
        default: configuration.readsBodyAfter = { [gate] in $0.number == 1 ? gate : nil }
        }
        return configuration
    }

    func answer(_ request: LoopbackRequest) -> LoopbackResponse {
        let whole = Self.resource.response(to: request)
        let isFirst = request.number == 1
        switch (cell.kind, cell.phase) {
        case (.wrongLength, .head): return whole.with(.conflictingLengths)
        case (.wrongLength, .memory), (.wrongLength, .download), (.wrongLength, .stream):
            return whole.with(.announces(length: 60_000))
        case (.wrongRange, .head):
            return LoopbackResponse(
                .partialContent, fields: [.contentRange: "bytes 0-49999/60000", .eTag: "\"a\""], body: Self.body)
        case (.wrongRange, _):
            var liar = Self.resource
            liar.lies = [.shiftsContentRange]
            return isFirst ? whole.with(.stalls(.afterBody(20_000), until: gate)) : liar.response(to: request)
        case (.redirectLoop, _):
            let place = request.path == "/a" ? "/b" : "/a"
            return LoopbackResponse(.temporaryRedirect, fields: [.location: place], body: loopBody)
        case (.challengeLoop, _):
            return LoopbackResponse(
                .unauthorized, fields: [.wwwAuthenticate: "Basic realm=\"\(request.number)\""], body: loopBody)
        case (.bomb, .head): return whole.with(.oversizedField(bytes: 1 << 20))
        case (.bomb, _): return Self.bomb
        default: break
        }
        guard isFirst else { return whole }
        switch (cell.kind, point) {
        case (.cancel, let point?), (.pause, let point?), (.stall, let point?):
            return whole.with(.stalls(point, until: gate))
        case (.reset, nil) where cell.phase == .decoding:
            return whole.with(.stalls(.afterBody(50_000), until: gate), .resetsConnection(.afterBody(50_000)))
        case (.truncation, nil) where cell.phase == .decoding:
            return whole.with(.stalls(.afterBody(50_000), until: gate), .closes(.afterBody(50_000)))
        case (.reset, let point?): return whole.with(.resetsConnection(point))
        case (.truncation, let point?): return whole.with(.closes(point))
        default: return whole
        }
    }

    private static let bomb = LoopbackResponse(
        fields: [.contentEncoding: "gzip"],
        body: .bytes(LoopbackCompression.gzipBomb(inflatingTo: 8 << 20)))

    /// The body of the redirects and challenges, if the loop happens in bodies.
    private var loopBody: LoopbackBody {
        [.memory, .download, .stream].contains(cell.phase) ? .pattern(length: 30_000) : .empty
    }

    /// The point at which the response stalls or breaks; nil if the fault does not depend on the response.
    private var point: LoopbackResponse.Point? {
        switch cell.phase {
        case .memory, .download, .stream: .afterBody(20_000)
        case .waiting: .beforeHead
        case .sending where cell.kind == .reset || cell.kind == .truncation: .beforeHead
        default: nil
        }
    }

    // MARK: - The relay

    /// Returns the relay that causes the fault; nil if the server causes it.
    func relay(to port: Int) throws -> Relay? {
        let end: Relay.End =
            switch cell.kind {
            case .reset: .reset
            case .truncation: .close
            default: .stall
            }
        guard [.cancel, .pause, .reset, .truncation, .stall].contains(cell.kind) else { return nil }
        switch cell.phase {
        case .connecting where cell.kind != .reset: return try Relay(to: port, isFull: true)
        case .handshake: return try Relay(to: port, limit: 0, then: end)
        case .head: return try Relay(to: port, limit: 20, then: end)
        default: return nil
        }
    }

    // MARK: - The request

    func request(_ origin: String, _ folder: Folder) throws -> HTTPRequestDescription {
        var request = HTTPRequestDescription(.get, origin + "/a")
        request.limits.inflation = InflationLimit(size: 1 << 20)
        guard cell.phase == .sending else { return request }
        request.method = .post
        request.body = .bytes(Data(count: Self.upload))
        if cell.kind == .wrongLength {
            let path = folder.file("upload")
            try Data(count: Self.upload).write(to: URL(filePath: path))
            request.body = .file(path: path)
        }
        return request
    }

    /// Responds to every method with the resource.
    func handler() -> HTTPTestServer.Handler {
        { request in
            var asked = request
            asked.method = .get
            return answer(asked)
        }
    }

    var fileSteps: FileStepHook? {
        guard cell.kind == .diskFull else { return nil }
        let full: FileStep =
            switch cell.phase {
            case .connecting: .opened
            case .head: .noted
            case .download: .written
            default: .renamed
            }
        return { if $0 == full { throw Errno.noSpace } }
    }

    var serializer: HTTPSerializer<Data> {
        HTTPSerializer { [self] body, _ in
            if cell.phase == .decoding {
                Task { try? await decodes.pass() }
                mayDecode.pass()
            }
            return body
        }
    }
}
