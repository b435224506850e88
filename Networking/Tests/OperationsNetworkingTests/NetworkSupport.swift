import Foundation
import HTTPTypes
import HTTPTestServer
import Operations
@testable import OperationsNetworking
import OperationsTesting

/// Runs `body` with a server, and stops the server afterwards.
func withServer<Result>(
    _ handler: @escaping HTTPTestServer.Handler, _ configuration: HTTPTestServer.Configuration = .init(),
    _ body: (HTTPTestServer) async throws -> Result
) async throws -> Result {
    try await HTTPTestServer.with(configuration, handler: handler, body)
}

extension HTTPSession {
    /// Returns a session whose clock advances only by the test.
    static func plain(_ change: (inout Configuration) -> Void = { _ in }) -> HTTPSession {
        var configuration = Configuration()
        configuration.setClock(VirtualClock())
        // The system clock measures this limit, and the system repeats a blocked connection attempt for a minute.
        configuration.connectTimeout = .seconds(86_400)
        change(&configuration)
        return HTTPSession(configuration)
    }

    /// Returns a session that trusts the root of the server, if the server has a root.
    static func trusting(
        _ server: HTTPTestServer, _ change: (inout Configuration) -> Void = { _ in }
    ) throws -> HTTPSession {
        let roots = try server.certificates.map { [try HTTPTrust.Certificate(der: $0.rootDER)] } ?? []
        return plain {
            $0.trust.additionalRoots = roots
            change(&$0)
        }
    }
}

func get(_ url: String) -> HTTPRequestDescription { HTTPRequestDescription(.get, url) }

/// Returns the outcome of `body`.
func result<Value>(of body: () async throws -> Value) async -> Result<Value, any Error> {
    do { return .success(try await body()) } catch { return .failure(error) }
}

/// Returns the reason of the error of `body`; nil for success.
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

/// A reason as text, for comparison.
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

/// A temporary folder that is removed after the test.
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
