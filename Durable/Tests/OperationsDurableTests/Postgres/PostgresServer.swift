#if Postgres
import Foundation
import Testing

@testable import OperationsDurable
@testable import OperationsDurablePostgres

/// A server of PostgreSQL with a directory of its own. The server listens on a socket in the directory.
///
/// A shell watches the test process: when the process ends for any reason, the shell stops the server and removes the
/// directory.
final class PostgresServer: Sendable {
    /// The parts of the machine that the server has for itself. They have no names, and end with their last process.
    enum Isolation: String {
        case none
        /// A network, which `join` connects with the network of a worker by a pair of virtual devices.
        case network
        /// A file system for the data, which `fill` fills.
        case data
        /// A file system for the log of changes, which `fill` fills.
        case wal
    }

    private let directory: String
    private let binaries: String
    /// The commands to the shell. Their end means the end of the test process.
    private let commands = Pipe()
    private let replies = Pipe()
    private let schemas = Locked(0)
    /// The permits of tests. Without permits, 70 tests held up to 197 of the server's 200 connections.
    private let permits = Permits(16)

    /// The server of all tests that do not stop their server.
    static let shared = Result { try PostgresServer() }

    /// The directory of the programs of PostgreSQL, or nil.
    private static let installed: String? = {
        var candidates = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        if let configured = try? output(of: ["pg_config", "--bindir"]) { candidates.append(configured) }
        return candidates.first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }
    }()

    static var isInstalled: Bool { installed != nil }

    /// The directory of the programs of PostgreSQL, or nil.
    static var programs: String? { installed }

    /// Whether the process may create networks and file systems: it is root, and has `ip`, `unshare` and `nsenter`.
    static let canIsolate: Bool = {
        let network = "ip link add probe type veth peer name other && nsenter --version"
        let probes = [("--net", network), ("--mount", "mount -t tmpfs tmpfs /tmp")]
        return isInstalled && probes.allSatisfy { (try? output(of: ["unshare", $0, "sh", "-c", $1])) != nil }
    }()

    private static let script = """
        set -eu
        directory=$1 binaries=$2 isolation=$3
        mkdir -m 700 "$directory"
        cd "$directory"
        as_owner=
        if [ "$(id -u)" -eq 0 ]; then
            chown postgres "$directory"
            as_owner="setpriv --reuid postgres --regid postgres --clear-groups"
        fi
        trap '' INT TERM HUP
        listen= options=
        case $isolation in
            network) ip link set lo up && listen='*' ;;
            data | wal)
                mkdir data wal
                mount -t tmpfs -o size=128m durable "$isolation"
                chown postgres data wal
                options="-X $directory/wal"
                ;;
        esac
        $as_owner "$binaries/initdb" -D data -U postgres -A trust -E UTF8 --locale=C --no-sync $options \
            > initdb.log 2>&1
        cat > data/pg_hba.conf << END
        local all guarded scram-sha-256
        local all all trust
        host all all 10.77.0.0/30 trust
        END
        cat >> data/postgresql.conf << END
        listen_addresses = '$listen'
        unix_socket_directories = '$directory'
        max_connections = 200
        shared_buffers = 64MB
        END
        start() { $as_owner "$binaries/pg_ctl" -D data -l data/server.log -w start > /dev/null; }
        stop() { $as_owner "$binaries/pg_ctl" -D data -m immediate stop > /dev/null 2>&1; }
        recover() {
            stop || true
            start
        }
        join() {
            ip link add server type veth peer name worker netns "$1"
            ip address add 10.77.0.1/30 dev server
            ip link set server up
            nsenter -t "$1" -n sh -ec 'ip address add 10.77.0.2/30 dev worker; ip link set worker up'
        }
        cut() { ip link set server down; }
        restore() { ip link set server up; }
        fill() { cat /dev/zero > "$isolation/fill" 2> /dev/null || true; }
        clear() { rm "$isolation/fill"; }
        start
        echo done
        while read -r command argument; do
            "$command" $argument
            echo done
        done
        stop || true
        cd /
        case $isolation in data | wal) umount -l "$directory/$isolation" ;; esac
        rm -rf "$directory"
        """

    init(_ isolation: Isolation = .none) throws {
        binaries = try #require(Self.installed, "PostgreSQL is not installed")
        let name = "durable-\(UUID().uuidString.prefix(8))"
        directory = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let namespace: [String] =
            switch isolation {
            case .none: []
            case .network: ["unshare", "--net"]
            case .data, .wal: ["unshare", "--mount"]
            }
        process.arguments = namespace + ["sh", "-c", Self.script, "sh", directory, binaries, isolation.rawValue]
        (process.standardInput, process.standardOutput) = (commands, replies)
        // Other processes of the tests must not hold the pipe open.
        _ = fcntl(commands.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        try process.run()
        try awaitReply()
    }

    deinit { try? commands.fileHandleForWriting.close() }

    /// Stops the server at once, without a checkpoint.
    func stop() throws { try control("stop") }

    func start() throws { try control("start") }

    /// Starts the server, which may have ended by itself.
    func recover() throws { try control("recover") }

    /// Connects the network of the server with that of a process.
    func join(_ process: Process) throws { try control("join \(process.processIdentifier)") }

    /// Drops all packets between the networks.
    func cut() throws { try control("cut") }

    func restore() throws { try control("restore") }

    /// Writes a file of zeros until the server's file system of its own is full.
    func fill() throws { try control("fill") }

    /// Removes the file of zeros.
    func clear() throws { try control("clear") }

    private func control(_ command: String) throws {
        try commands.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
        try awaitReply()
    }

    private func awaitReply() throws {
        let line = String(decoding: replies.fileHandleForReading.availableData, as: UTF8.self)
        try #require(line == "done\n", "the server does not start or stop")
    }

    /// Runs a program, and returns the first line of its output.
    private static func output(of command: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(command.last ?? "") failed")
        let text = String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
        return text.split(separator: "\n").first.map(String.init) ?? ""
    }

    // MARK: - Addresses

    /// Returns the address of a schema. The options replace the user, and add a password. In a network of its own the
    /// server also has the host 10.77.0.1.
    func url(
        schema: String = "public", user: String = "postgres", password: String? = nil, host: String? = nil
    ) -> String {
        "postgresql://\(user)\(password.map { ":\($0)" } ?? "")@/postgres?host=\(host ?? directory)"
            + "&options=-csearch_path%3D\(schema)&application_name=\(schema)"
    }

    /// Connects to the schema, for statements of tests.
    func connection(_ schema: String = "public") throws -> PostgresConnection {
        let connection = try PostgresConnection(PostgresAddress(url(schema: schema)), timeout: .seconds(10))
        // The statements of the library name the schema, and those of tests do not.
        try connection.executeAll("SET search_path = \(schema), pg_temp")
        return connection
    }

    /// Ends all sessions of the schema's stores.
    func cutConnections(of schema: String) throws {
        _ = try connection().run(
            text: "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1",
            [.text(schema)])
    }

    /// Calls the body with the name of an empty schema, and removes the schema afterward.
    ///
    /// The call waits while 16 other tests have a schema of this server.
    func withSchema(_ body: (String) async throws -> Void) async throws {
        await permits.acquire()
        defer { permits.release() }
        let name = schemas.withLock { number in
            number += 1
            return "test\(number)"
        }
        _ = try connection().run(text: "CREATE SCHEMA \(name)", [])
        let result: Result<Void, any Error>
        do { result = .success(try await body(name)) } catch { result = .failure(error) }
        // A test that stopped the server removes the whole directory.
        _ = try? connection().run(text: "DROP SCHEMA \(name) CASCADE", [])
        try result.get()
    }
}

/// A semaphore whose waiting callers are tasks.
private final class Permits: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Locked<State>

    init(_ count: Int) { state = Locked(State(free: count)) }

    func acquire() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.free > 0 else {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    func release() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free += 1
            return nil
        }
        next?.resume()
    }
}

/// Calls the body with a new schema on the shared server.
func withPostgres(_ body: (PostgresServer, String) async throws -> Void) async throws {
    let server = try PostgresServer.shared.get()
    try await server.withSchema { try await body(server, $0) }
}

/// Calls the body with a store whose clock the test moves.
func withPostgresStore(_ limits: DurableLimits, _ body: (TestStore) async throws -> Void) async throws {
    try await withPostgres { server, schema in
        let clock = TestClock()
        var configuration = PostgresStore.Configuration()
        (configuration.limits, configuration.clock) = (limits, { _ in clock.now })
        configuration.leasePatience = .zero
        let store = try await PostgresStore(server.url(schema: schema), configuration: configuration)
        try await body(
            TestStore(store: store) {
                clock.advance(by: $0)
                store.notices.publishUnknownChange()
            })
    }
}
#endif
