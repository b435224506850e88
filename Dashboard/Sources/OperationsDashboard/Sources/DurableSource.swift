#if Durable
import DashboardCore
public import OperationsDurable

extension Dashboard {
    /// Adds a durable store: its queues, workers, schedules and operations. The dashboard keeps the store.
    ///
    /// While a page is open, the dashboard reads the store once each half second, or less often if a read takes long.
    ///
    /// - Parameters:
    ///   - store: An open store.
    ///   - name: The title on the page.
    public func add(_ store: any DurableStore, name: String = "durable") {
        add { id, _ in DurableSource(store, name: name, id: id, configuration: configuration) }
    }
}

/// A durable store. Each answer is a task, because a store answers asynchronously.
final class DurableSource: Source {
    let id: String
    let name: String
    let store: any DurableStore
    let configuration: Dashboard.Configuration

    init(_ store: any DurableStore, name: String, id: String, configuration: Dashboard.Configuration) {
        (self.store, self.name, self.id, self.configuration) = (store, name, id, configuration)
    }

    func open() {}
    func close() {}

    func answer(_ question: Question, done: @escaping @Sendable (Result<JSON, HTTPStatus>) -> Void) {
        Task {
            do {
                done(try await answer(question))
            } catch is DurableError {
                done(.failure(.conflict))
            } catch {
                // The text of the error could have the address of a database with its password.
                done(.failure(.unavailable))
            }
        }
    }

    private func answer(_ question: Question) async throws -> Result<JSON, HTTPStatus> {
        switch question {
        case .overview: .success(try await overview())
        case .operations(let query): .success(try await rows(query))
        case .operation(let number): try await detail(number).map(Result.success) ?? .failure(.notFound)
        case .timeline(let seconds): .success(try await timeline(seconds))
        case .graph: .failure(.notFound)
        case .steer(let command): configuration.permitsSteering ? try await steer(command) : .failure(.forbidden)
        }
    }
}
#endif
