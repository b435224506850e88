import ArgumentParser
import DurableTool
import Foundation
import OperationsDurable
import OperationsDurablePostgres

/// The store of a command, and the form of its output.
struct StoreOptions: ParsableArguments {
    @Option(
        help: "The path of a file of SQLite, or an address of PostgreSQL. Default: the variable DURABLE_STORE.",
        completion: .file())
    var store: String?

    @Option(help: ArgumentHelp("The longest wait for other processes.", valueName: "time"))
    var wait = "5s"

    @Flag(help: "Print JSON, in one line.")
    var json = false

    /// Opens the store, calls the body, and ends the process with a status other than 0 if the body returns one.
    func withStore(_ body: (any DurableStore, Output) async throws -> ExitStatus) async throws {
        let address = try address()
        do {
            let output = Output()
            let status = try await body(open(address), output)
            try output.flush()
            if status != .done { throw ExitCode(status.rawValue) }
        } catch let status as ExitCode { throw status } catch { throw Failure(error, store: address) }
    }

    func address() throws -> StoreAddress {
        let variable = ProcessInfo.processInfo.environment["DURABLE_STORE"]
        guard let text = store ?? variable else {
            throw Failure(.wrongUse, "no store is named", remedy: "use --store, or the variable DURABLE_STORE")
        }
        do {
            let address = try StoreAddress(text)
            if store != nil, address.hasPassword {
                printError("durable: other users can see the password in the arguments; use PGPASSFILE or PGSERVICE")
            }
            return address
        } catch { throw Failure(error, store: nil) }
    }

    /// Opens the store. Neither creates nor migrates a database.
    func open(_ address: StoreAddress) async throws -> any DurableStore {
        guard let wait = Age.duration(wait) else {
            throw Failure(.wrongUse, "--wait needs a time such as 10s, and not '\(wait)'")
        }
        switch address {
        case .file(let path):
            var configuration = SQLiteStore.Configuration()
            (configuration.createsSchema, configuration.busyTimeout) = (false, wait)
            return try await SQLiteStore(path: path, configuration: configuration)
        case .postgres(let text):
            #if Postgres
            var configuration = PostgresStore.Configuration()
            (configuration.createsSchema, configuration.lockTimeout) = (false, wait)
            configuration.connectTimeout = wait
            return try await PostgresStore(text, configuration: configuration)
            #else
            _ = text
            throw Failure(
                .noStore, "this program was built without PostgreSQL", remedy: "build it with --traits Postgres")
            #endif
        }
    }
}

/// The repetition of a view.
struct WatchOptions: ParsableArguments {
    @Flag(help: "Repeat until the command is interrupted. A terminal is cleared each time.")
    var watch = false

    @Option(help: ArgumentHelp("The time between two repetitions.", valueName: "time"))
    var every = "2s"

    /// Calls the body once, or again and again. While the store is away, a repetition prints the error.
    func view(
        _ options: StoreOptions, _ title: String, _ body: (any DurableStore, Output) async throws -> ExitStatus
    ) async throws {
        guard watch else { return try await options.withStore(body) }
        guard let pause = Age.duration(every), pause >= .milliseconds(100) else {
            throw Failure(.wrongUse, "--every needs a time of at least 100ms, and not '\(every)'")
        }
        let address = try options.address()
        var store: (any DurableStore)?
        do { store = try await options.open(address) } catch { throw Failure(error, store: address) }
        while true {
            let output = Output()
            // No address: it may contain a password.
            if !options.json { try output.beginScreen("\(title), every \(Age.text(pause)); end with Ctrl-C") }
            do {
                if store == nil { store = try await options.open(address) }
                if let store { _ = try await body(store, output) }
            } catch {
                let failure = Failure(error, store: address)
                if failure.status == .noOutput { throw failure }
                try output.endScreen()
                printError(failure.description)
                store = nil
            }
            try output.endScreen()
            try await Task.sleep(for: pause)
        }
    }
}

/// The options that choose operations.
struct SelectionOptions: ParsableArguments {
    @Argument(help: "The identifiers of operations.")
    var ids: [String] = []

    @Option(
        help: ArgumentHelp("A state, or several with commas; also 'unfinished' and 'ended'.", valueName: "states"),
        completion: .list(StateNames.all))
    var state: [String] = []

    @Option(help: "The name of a queue.")
    var queue: String?

    @Option(name: [.long, .customLong("type")], help: "The name of the operations.")
    var name: String?

    @Option(
        help: ArgumentHelp(
            "The least age, such as 90s, 15m, 1h30m or 2d: since the end, the start of the attempt, or the addition.",
            valueName: "time"))
    var older: String?

    @Option(help: ArgumentHelp("The greatest age.", valueName: "time"))
    var newer: String?

    var selection: Selection {
        var selection = Selection()
        (selection.ids, selection.states, selection.queue, selection.name) = (ids, state, queue, name)
        (selection.older, selection.newer) = (older, newer)
        return selection
    }
}
