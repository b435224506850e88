#if Postgres
import DurableCore
import Foundation
import Operations
import OperationsTesting
import Testing

@testable import OperationsDurable
@testable import OperationsDurablePostgres

/// A primary server and a copy that confirms each commit. A shell stops both servers when the test process ends.
private final class ServerPair: Sendable {
    let directory: String
    private let commands = Pipe()
    private let replies = Pipe()

    private static let script = """
        set -eu
        directory=$1
        PATH=$PATH:$2
        mkdir -m 700 "$directory"
        cd "$directory"
        as_owner=
        if [ "$(id -u)" -eq 0 ]; then
            chown postgres "$directory"
            as_owner="setpriv --reuid postgres --regid postgres --clear-groups"
        fi
        trap '' INT TERM HUP
        family() {
            main=$(head -n 1 first/postmaster.pid 2> /dev/null || echo 0)
            [ "$main" = 0 ] || echo "$main $(ps -o pid= --ppid "$main")"
        }
        clean() {
            kill -9 $(family) 2> /dev/null || true
            $as_owner pg_ctl -D second -m immediate stop > /dev/null 2>&1 || true
            cd /
            rm -rf "$directory"
        }
        trap clean EXIT
        start() { $as_owner pg_ctl -D "$1" -l "$1/server.log" -w start > /dev/null; }
        $as_owner initdb -D first -U postgres -A trust -E UTF8 --locale=C --no-sync > initdb.log 2>&1
        cat >> first/postgresql.conf << END
        listen_addresses = ''
        unix_socket_directories = '$directory'
        max_connections = 50
        shared_buffers = 32MB
        port = 5601
        END
        start first
        $as_owner pg_basebackup -D second -h "$directory" -p 5601 -U postgres -R -X stream > backup.log 2>&1
        echo "port = 5602" >> second/postgresql.conf
        start second
        # All transactions of tests wait for the copy from here on.
        ask() { $as_owner psql -h "$directory" -p "$1" -U postgres -Atc "$2"; }
        ask 5601 "ALTER SYSTEM SET synchronous_standby_names = '*'" > /dev/null
        ask 5601 "SELECT pg_reload_conf()" > /dev/null
        until [ "$(ask 5601 "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")" = 1 ]; do sleep 0.1; done
        freeze() { kill -STOP $(family); }
        end() { $as_owner pg_ctl -D first -m immediate stop > /dev/null 2>&1; }
        # The copy would confirm no commit alone.
        promote() {
            $as_owner pg_ctl -D second -w promote > /dev/null
            ask 5602 "ALTER SYSTEM SET synchronous_standby_names = ''" > /dev/null
            ask 5602 "SELECT pg_reload_conf()" > /dev/null
        }
        forbid_changes() {
            export PGOPTIONS="-c default_transaction_read_only=off"
            ask 5601 "ALTER SYSTEM SET default_transaction_read_only = $1" > /dev/null
            ask 5601 "SELECT pg_reload_conf()" > /dev/null
        }
        echo done
        while read -r command argument; do
            "$command" $argument
            echo done
        done
        """

    init() throws {
        let binaries = try #require(PostgresServer.programs, "PostgreSQL is not installed")
        let name = "durable-\(UUID().uuidString.prefix(8))"
        directory = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["sh", "-c", Self.script, "sh", directory, binaries]
        (process.standardInput, process.standardOutput) = (commands, replies)
        _ = fcntl(commands.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        try process.run()
        try awaitReply()
    }

    deinit { try? commands.fileHandleForWriting.close() }

    func control(_ command: String) throws {
        try commands.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
        try awaitReply()
    }

    private func awaitReply() throws {
        let line = String(decoding: replies.fileHandleForReading.availableData, as: UTF8.self)
        try #require(line == "done\n", "a server does not start or stop")
    }

    /// The address with both servers.
    var url: String { "postgresql:///postgres?user=postgres&host=\(directory),\(directory)&port=5601,5602" }

    /// The address of the copy.
    var copy: String { "postgresql:///postgres?user=postgres&host=\(directory)&port=5602" }
}

@Suite(.enabled(if: PostgresServer.isInstalled)) struct PostgresFailoverTests {
    @Test(arguments: ["end", "freeze"])
    func `R34: after a failover, everything that was acknowledged is on the new primary, and each effect exists once`(
        _ fault: String
    ) async throws {
        let pair = try ServerPair()
        var configuration = PostgresStore.Configuration()
        (configuration.lockTimeout, configuration.replyTimeout) = (.seconds(2), .seconds(2))
        (configuration.connectTimeout, configuration.pollInterval) = (.seconds(2), .milliseconds(500))
        let store = try await PostgresStore(pair.url + "&application_name=test", configuration: configuration)
        _ = try await store.transaction {
            try $0.execute("CREATE TABLE effect(number bigint NOT NULL, step bigint NOT NULL)")
        }
        let queue = DurableQueue("q", in: store)
        let worker = Process()
        let directory = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        worker.executableURL = directory.appendingPathComponent("DurablePostgresWorker")
        worker.arguments = [pair.url, "4", "0", "5000", "1000", "2000"]
        let input = Pipe()
        (worker.standardInput, worker.standardError) = (input, FileHandle.nullDevice)
        _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        try worker.run()
        defer {
            Glibc.kill(worker.processIdentifier, SIGKILL)
            worker.waitUntilExit()
        }
        // The store listens for notices while a task waits.
        let never = try await DurableQueue("never", in: store).add(Sum(a: 1, b: 2))
        let waiting = Task { try await never.value }
        defer { waiting.cancel() }
        // Additions continue during the failover. An addition without an acknowledgment has a key, and is repeated.
        let (added, total) = (Locked(0), Stress.rounds(4_000, small: 400))
        let adding = Task {
            for number in 0..<total {
                let options = DurableOptions(unique: "\(number)", uniquePeriod: .seconds(3_600))
                while true {
                    do {
                        try await queue.add(CrashTests.Effect(number: number), options: options)
                        break
                    } catch DurableError.unavailable { try await OperationClock().sleep(for: .milliseconds(20)) }
                }
                added.withLock { $0 += 1 }
            }
        }
        try await poll("a quarter is added") { added.withLock { $0 } > total / 4 }
        try pair.control(fault)
        try pair.control("promote")
        let start = ContinuousClock.now
        try await adding.value
        try await poll("all operations end") { (try? await queue.counts()) == [.succeeded: total] }
        #expect(ContinuousClock.now - start < .seconds(100))
        let numbers = try await store.transaction { try $0.execute("SELECT number FROM effect ORDER BY number") }
            .compactMap { $0.int("number") }
        #expect(numbers == (0..<Int64(total)).map { $0 })
        try await poll("the connections for commits, questions and notices lead to the new primary") {
            let sessions = try await store.transaction {
                try $0.execute("SELECT count(*) AS count FROM pg_stat_activity WHERE application_name = 'test'")
            }
            return sessions[0].int("count") == 3
        }
        let recovery = try await store.transaction {
            try $0.execute("SELECT inet_server_port(), current_setting('port') AS port")
        }
        #expect(recovery.first?["port"] == "5602")
    }

    /// Ends when its journal has the word `go`.
    private struct Held: DurableOperation {
        static let name = "held"
        var journal: String

        func run(_ context: DurableContext) async throws {
            Journal.named(journal).append("start")
            while Journal.named(journal).count("go") == 0 { try await OperationClock().sleep(for: .milliseconds(5)) }
        }
    }

    @Test func `R34: a store at a copy is refused by name, and a worker waits while its server accepts no changes`()
        async throws
    {
        let pair = try ServerPair()
        let store = try await PostgresStore(pair.url)
        let error = await #expect(throws: DurableError.self) { _ = try await PostgresStore(pair.copy) }
        #expect("\(try #require(error))".contains("the server accepts no changes"))
        let (queue, name) = (DurableQueue("q", in: store), "R34 \(pair.directory)")
        let held = try await queue.add(Held(journal: name))
        let next = try await queue.add(Sum(a: 1, b: 2), after: [held])
        try await withWorker(store, [Held.self, Sum.self]) {
            try await held.reaches(.running)
            try pair.control("forbid_changes on")
            try await poll("an addition fails") { (try? await queue.add(Sum(a: 1, b: 2))) == nil }
            let error = await #expect(throws: DurableError.self) { try await queue.add(Sum(a: 1, b: 2)) }
            #expect("\(try #require(error))".contains("the server accepts no changes"))
            Journal.named(name).append("go")
            try await OperationClock().sleep(for: .milliseconds(300))
            try pair.control("forbid_changes off")
            let value = try await next.value
            #expect(value == 3)
        }
        #expect(Journal.named(name).count("start") == 1)
    }

    @Test func `R34: a store leaves a server that stands still within a statement of an application, and no other`()
        async throws
    {
        let pair = try ServerPair()
        var configuration = PostgresStore.Configuration()
        (configuration.lockTimeout, configuration.replyTimeout) = (.seconds(1), .seconds(1))
        configuration.connectTimeout = .seconds(2)
        let store = try await PostgresStore(pair.url, configuration: configuration)
        // Longer than the limits together.
        let slow = try await store.transaction {
            try $0.execute("SELECT pg_sleep(3), 7 AS number").first?.int("number")
        }
        #expect(slow == 7)
        let calls = Locked(0)
        let statement = Task {
            try await store.transaction { transaction in
                let isFirst = calls.withLock { calls in
                    calls += 1
                    return calls == 1
                }
                // The store calls the closure again, with a connection to the new primary.
                if isFirst { _ = try transaction.execute("SELECT pg_sleep(600)") }
                return try transaction.execute("SELECT current_setting('port') AS port").first?["port"]
            }
        }
        try await poll("the statement executes") { calls.withLock { $0 } == 1 }
        try pair.control("freeze")
        try pair.control("promote")
        let port = try await statement.value
        #expect(port == "5602")
        #expect(calls.withLock { $0 } == 2)
    }

    @Test func `R34: a server without a place for a connection is not one that stands still`() async throws {
        let server = try PostgresServer()
        try await server.withSchema { schema in
            var configuration = PostgresStore.Configuration()
            (configuration.lockTimeout, configuration.replyTimeout) = (.milliseconds(500), .milliseconds(500))
            let store = try await PostgresStore(server.url(schema: schema), configuration: configuration)
            let calls = Locked(0)
            var others: [PostgresConnection] = []
            while let next = try? server.connection(schema) { others.append(next) }
            let number = try await store.transaction { transaction in
                calls.withLock { $0 += 1 }
                return try transaction.execute("SELECT pg_sleep(2.5), 7 AS number").first?.int("number")
            }
            #expect(number == 7 && calls.withLock { $0 } == 1)
            #expect(others.count > 100)
            others = []
        }
    }
}
#endif
