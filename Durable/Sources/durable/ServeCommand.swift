import ArgumentParser
import DurableTool
import Foundation
import OperationsDurable

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the store on a page in the browser, until Ctrl-C.",
        discussion: """
            Runs the program durable-serve, which is beside this program or in a folder of PATH. It prints the address of the page, \
            which has a token. The page changes nothing without --steer.
            """)

    @OptionGroup var store: StoreOptions

    @Option(help: ArgumentHelp("The port of 127.0.0.1; 0 for any free one.", valueName: "number"))
    var port = 8080

    @Flag(help: "Let the page suspend queues, set limits, and retry, cancel, discard and move operations.")
    var steer = false

    @Flag(help: "Show the inputs of operations, which may have secrets.")
    var inputs = false

    func validate() throws {
        if !(0...65535).contains(port) {
            throw ValidationError("--port must be a number from 0 to 65535, found \(port).")
        }
    }

    func run() async throws {
        let address = try store.address()
        // Here, because this program has the messages about stores that cannot be used.
        try await store.withStore { store, _ in
            _ = try await store.snapshot()
            return .done
        }
        switch address {
        case .file(let text), .postgres(let text): setenv("DURABLE_STORE", text, 1)
        }
        let words = PageProgram.arguments(port: port, steers: steer, showsInputs: inputs)
        var arguments = words.map { strdup($0) } + [nil]
        let folders = ProcessInfo.processInfo.environment["PATH"]
        for path in PageProgram.paths(besides: Bundle.main.executablePath, path: folders) {
            // Returns only if there is no such program.
            execv(path, &arguments)
        }
        throw Failure(
            .wrongUse, "there is no program durable-serve beside durable, and none in PATH",
            remedy: "build it: swift build -c release --package-path Dashboard --traits Durable --product durable-serve"
        )
    }
}
