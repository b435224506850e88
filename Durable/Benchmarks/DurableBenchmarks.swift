import Foundation
import OperationsDurable

/// Measures the rows of the cost table for each database, beside a bare loop of SQL.
///
/// `DurableBenchmarks --help` prints the options. `Benchmarks/compare` adds the peers.
@main
struct DurableBenchmarks {
    static let rows = [
        Row.addOneByOne, .addInBatches, .run, .processes, .chain, .graph, .wakeUp, .backlog, .steps, .effects,
        .addFromOneTask, .transactions, .decay, .keys,
    ]

    static func main() async throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == WorkerProcess.command {
            return try await WorkerProcess.main(Array(arguments.dropFirst()))
        }
        let options: Options
        do { options = try Options(&arguments) } catch let error as Options.Misuse {
            print(error.text)
            exit(error.isHelp ? 0 : 2)
        }
        for backend in options.backends {
            defer { backend.removeFiles() }
            for row in rows where options.rows.contains(row.number) {
                for size in row.sizes(options) {
                    for measurement in try await row.measure(backend, size) {
                        print(options.isJSON ? try measurement.json(row, backend) : measurement.line(row, backend))
                        fflush(nil)
                    }
                }
            }
        }
    }
}
