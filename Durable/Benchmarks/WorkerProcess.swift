import Foundation
import OperationsDurable

/// A worker in a process of its own. The worker ends when its standard input ends.
final class WorkerProcess {
    static let command = "worker"
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// Starts the process, and returns when its worker serves the queue.
    init(_ backend: any Backend, _ address: String, queue: String, limit: Int) throws {
        process.executableURL = Bundle.main.executableURL
        process.arguments = [Self.command, backend.option, address, queue, "\(limit)"]
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        _ = output.fileHandleForReading.availableData
    }

    func stop() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// The program of the process.
    static func main(_ arguments: [String]) async throws {
        let (backend, address, queue) = (try backend(named: arguments[0]), arguments[1], arguments[2])
        let store = try await backend.open(address)
        let worker = try DurableWorker(
            store, queues: [queue: .limit(Int(arguments[3]) ?? 16)],
            operations: benchmarkOperations)
        let running = Task { try await worker.run() }
        print("ready")
        fflush(nil)
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                while readLine() != nil {}
                continuation.resume()
            }
        }
        worker.stop()
        try await running.value
    }
}
