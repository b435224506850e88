import Operations
import Synchronization

@testable import OperationsDashboard

/// Runs a dashboard on a free port while the body runs.
func withDashboard(
    _ configuration: Dashboard.Configuration = .init(), _ queues: [OperationQueue] = [],
    _ body: (_ dashboard: Dashboard, _ port: Int) async throws -> Void
) async throws {
    let (addresses, listening) = AsyncStream.makeStream(of: String.self)
    var configuration = configuration
    configuration.token = "secret"
    configuration.onListen = { listening.yield($0) }
    let dashboard = Dashboard(configuration: configuration)
    queues.forEach(dashboard.add)
    let running = Task { try await dashboard.run(port: 0) }
    var address = ""
    for await found in addresses {
        address = found
        break
    }
    let port = Int(address.split(separator: ":")[2].prefix { $0 != "/" })!
    do {
        try await body(dashboard, port)
    } catch {
        running.cancel()
        throw error
    }
    running.cancel()
    try await running.value
}

/// The head of a permitted request.
func head(_ target: String, _ port: Int, method: String = "GET", _ fields: String = "") -> String {
    "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nCookie: operations-dashboard-\(port)=secret\r\n\(fields)\r\n"
}

/// Sends a permitted request, and returns the body of the response.
func get(_ target: String, _ port: Int) -> (status: Int, body: String) {
    let client = RawClient(port: port)
    client.send(head(target, port))
    let response = client.response()
    return (response?.status ?? 0, response?.body ?? "")
}

func steer(_ form: String, _ port: Int) -> Int {
    let client = RawClient(port: port)
    let fields = "Origin: http://127.0.0.1:\(port)\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    client.send(head("/api/steer", port, method: "POST", fields + "Content-Length: \(form.utf8.count)\r\n") + form)
    return client.response()?.status ?? 0
}

/// Reads a stream of events until a frame has the text. Returns the frame.
func frame(with mark: String, _ client: RawClient) -> String? {
    var text = ""
    while let bytes = client.receive() {
        text += String(decoding: bytes, as: UTF8.self)
        let frames = text.split(separator: "\n\n", omittingEmptySubsequences: false)
        if let found = frames.dropLast().first(where: { $0.contains(mark) }) { return String(found) }
        text = String(frames.last ?? "")
    }
    return nil
}
