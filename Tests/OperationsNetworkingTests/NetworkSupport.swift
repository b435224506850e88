#if Networking
import Foundation
import HTTPTypes
import LoopbackServer
import NIOSSL
import Operations
@testable import OperationsNetworking
import OperationsTesting

/// Stops the server afterwards.
func withServer<Result>(
    _ handler: @escaping LoopbackServer.Handler, _ configuration: LoopbackServer.Configuration = .init(),
    _ body: (LoopbackServer) async throws -> Result
) async throws -> Result {
    try await LoopbackServer.with(configuration, handler: handler, body)
}

extension HTTPSession {
    /// No time passes for it, unless the test says so.
    static func plain(_ change: (inout Configuration) -> Void = { _ in }) -> HTTPSession {
        var configuration = Configuration()
        configuration.setClock(VirtualClock())
        // Which is measured by no clock of ours: where a connection is held up, the system tries again after a minute.
        configuration.connectTimeout = .seconds(86_400)
        change(&configuration)
        return HTTPSession(configuration)
    }

    /// Trusts the root of a server, if it has one.
    static func trusting(
        _ server: LoopbackServer, _ change: (inout Configuration) -> Void = { _ in }
    ) throws -> HTTPSession {
        let roots = try server.certificates.map { [try NIOSSLCertificate(bytes: $0.rootDER, format: .der)] } ?? []
        return plain {
            $0.trust.additionalRoots = roots
            change(&$0)
        }
    }
}

func get(_ url: String) -> HTTPOperationRequest { HTTPOperationRequest(.get, url) }

/// How something ends.
func result<Value>(of body: () async throws -> Value) async -> Result<Value, any Error> {
    do { return .success(try await body()) } catch { return .failure(error) }
}

/// The reason of the error with which something ends.
func reason(of body: () async throws -> some Any) async -> HTTPCoreReason? {
    do {
        _ = try await body()
        return nil
    } catch let error as HTTPError {
        return HTTPCoreReason(error)
    } catch {
        return HTTPCoreReason(text: "\(error)", url: "")
    }
}

/// A reason as text, to be compared.
struct HTTPCoreReason: Equatable, CustomStringConvertible {
    var text: String
    var url: String

    init(text: String, url: String) { (self.text, self.url) = (text, url) }

    init(_ error: HTTPError) {
        text = "\(error.reason)".split(separator: "(")[0].description
        url = error.url
    }

    var description: String { text }
}

/// A folder that goes with the test.
final class Folder: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "operations-networking-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }

    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
}
#endif
