import AsyncHTTPClient
import Glibc
import NIOCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import struct Foundation.Data
import class Foundation.FileManager
#endif

/// A folder for this run, and nginx on a free port of the loopback interface, which serves the subfolder `www`.
///
/// A shell owns both. The shell waits until this program closes a pipe, which also happens when the program dies. Then the
/// shell stops nginx and removes the folder.
final class Site: Sendable {
    let folder: String
    let address: String
    private let keeper: pid_t
    /// The end of the pipe to which no data is written.
    private let lifeline: Int32

    /// Starts nginx.
    ///
    /// - Throws: `SiteFailed`, if nginx is missing or does not start.
    init(in parent: String) async throws {
        guard let nginx = Program("nginx") else { throw SiteFailed("nginx is not installed (Debian: nginx-light)") }
        folder = "\(parent)/swift-operations-benchmark-\(getpid())"
        do {
            try FileManager.default.createDirectory(atPath: folder + "/www", withIntermediateDirectories: true)
        } catch {
            throw SiteFailed("\(folder) cannot be created: \(error)")
        }
        let port = try Self.freePort()
        address = "http://127.0.0.1:\(port)"
        let configuration = Self.configuration(folder: folder, port: port)
        (keeper, lifeline) = try Self.keep(folder, nginx, configuration)
        do {
            try await waitForServer()
        } catch {
            close()
            throw error
        }
    }

    /// Stops nginx, removes the folder, and waits for both.
    func close() {
        _ = Glibc.close(lifeline)
        var status: Int32 = 0
        while waitpid(keeper, &status, 0) < 0, errno == EINTR {}
    }

    /// The number of requests that have reached nginx since its start, without this request.
    var requestCount: Int {
        get async throws {
            let request = HTTPClientRequest(url: address + "/status")
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(5))
            let text = String(buffer: try await response.body.collect(upTo: 4096))
            // The counts of accepted connections, handled connections, and requests.
            let counts = text.split(separator: "\n").compactMap { line in
                let numbers = line.split(separator: " ").map { Int($0) }
                return numbers.count == 3 && !numbers.contains(nil) ? numbers[2] : nil
            }
            guard let count = counts.first else { throw SiteFailed("nginx does not report its counts: \(text)") }
            return count - 1
        }
    }

    // MARK: - Starting

    private static func keep(_ folder: String, _ nginx: Program, _ configuration: String) throws -> (pid_t, Int32) {
        var ends: [Int32] = [0, 0]
        guard let shell = Program("sh"), pipe(&ends) == 0 else { throw SiteFailed("no shell or no pipe is available") }
        defer { _ = Glibc.close(ends[0]) }
        // Later programs must not inherit the ends, or they would keep the folder.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO)
        // Ctrl-C reaches all child processes, but the shell must ignore it.
        let script = """
            trap '' INT TERM HUP QUIT
            cd "$1" || exit 1
            "$2" -p "$1" -c nginx.conf -e error.log < /dev/null > output 2>&1 &
            read -r _
            kill $! 2> /dev/null
            wait $!
            cd / && rm -rf "$1"
            """
        do {
            try Data(configuration.utf8).write(to: URL(filePath: folder + "/nginx.conf"))
            return (try shell.spawn(["-c", script, "sh", folder, nginx.path], &actions), ends[1])
        } catch {
            _ = Glibc.close(ends[1])
            try? FileManager.default.removeItem(atPath: folder)
            throw error
        }
    }

    private static func configuration(folder: String, port: UInt16) -> String {
        """
        daemon off;
        \(getuid() == 0 ? "user root;" : "")
        worker_processes 1;
        pid nginx.pid;
        events { worker_connections 1024; }
        http {
            access_log off;
            default_type application/octet-stream;
            client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;
            sendfile on;
            tcp_nopush on;
            open_file_cache max=100;
            keepalive_requests 1000000;
            server {
                listen 127.0.0.1:\(port) backlog=1024;
                root \(folder)/www;
                location = /status { stub_status; }
                # Ten thousand addresses of one file.
                location /small/ { try_files /\(Content.smallName) =404; }
            }
        }

        """
    }

    private static func freePort() throws -> UInt16 {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { _ = Glibc.close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutableBytes(of: &address) { bytes in
            let pointer = bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
            return bind(socket, pointer, length) == 0 && getsockname(socket, pointer, &length) == 0
        }
        guard isBound else { throw SiteFailed("no port is free") }
        return UInt16(bigEndian: address.sin_port)
    }

    private func waitForServer() async throws {
        for _ in 0..<100 {
            if let _ = try? await requestCount { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        let log = ["output", "error.log"].compactMap { FileManager.default.contents(atPath: "\(folder)/\($0)") }
        throw SiteFailed("nginx does not start: " + log.map { String(decoding: $0, as: UTF8.self) }.joined())
    }
}

/// An error of the setup, without which no measurement is possible.
struct SiteFailed: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
