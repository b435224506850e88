#if Durable
import DashboardCore
import OperationsDashboard
import OperationsDurable
import OperationsDurablePostgres

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Shows a durable store on a page: the program behind `durable serve`. The store is the value of the variable `DURABLE_STORE`.
@main
struct DurableServe {
    static func main() async {
        guard let arguments = ServeArguments(CommandLine.arguments.dropFirst()) else {
            fail(2, "usage: DURABLE_STORE=STORE durable-serve [--port NUMBER] [--steer] [--inputs]")
        }
        guard let place = getenv("DURABLE_STORE").map({ String(cString: $0) }), !place.isEmpty else {
            fail(2, "no store is named: set the variable DURABLE_STORE, or use 'durable serve'")
        }
        let store: any DurableStore
        do { store = try await open(place) } catch {
            // The text of the error could have an address with a password.
            fail(3, "the store cannot be opened; 'durable check' says why")
        }
        var configuration = Dashboard.Configuration()
        (configuration.permitsSteering, configuration.showsInputs) = (arguments.steers, arguments.showsInputs)
        let dashboard = Dashboard(configuration: configuration)
        dashboard.add(store, name: place.contains("://") ? "PostgreSQL" : place)
        do { try await dashboard.run(port: arguments.port) } catch { fail(2, "\(error)") }
    }

    /// Opens the store. Neither creates nor migrates a database.
    private static func open(_ place: String) async throws -> any DurableStore {
        guard place.contains("://") else {
            var configuration = SQLiteStore.Configuration()
            configuration.createsSchema = false
            return try await SQLiteStore(path: place, configuration: configuration)
        }
        #if Postgres
        var configuration = PostgresStore.Configuration()
        configuration.createsSchema = false
        return try await PostgresStore(place, configuration: configuration)
        #else
        fail(3, "this program was built without PostgreSQL; build it with --traits Durable,Postgres")
        #endif
    }

    private static func fail(_ status: Int32, _ text: String) -> Never {
        let line = Array("durable-serve: \(text)\n".utf8)
        _ = write(2, line, line.count)
        exit(status)
    }
}
#else

/// The program in a build without the trait `Durable`.
@main
struct DurableServe {
    static func main() { print("durable-serve: this build shows no stores. Build it with --traits Durable.") }
}
#endif
