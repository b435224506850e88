#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import Foundation
import TestSupport

/// nginx on a free port of the loopback interface, with a folder for its files: an independently written server.
final class Nginx: Sendable {
    static let program = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/opt/homebrew/bin/nginx"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    struct NotStarted: Error, CustomStringConvertible { let description: String }

    let url: String
    private let folder: Folder
    private let process: Process

    /// Starts nginx.
    ///
    /// - Parameters:
    ///   - site: The content of the block `server`.
    ///   - files: The served files by name.
    init(_ site: String = "", files: [String: Data] = [:]) async throws {
        folder = try Folder()
        try FileManager.default.createDirectory(atPath: folder.file("www"), withIntermediateDirectories: true)
        for (name, content) in files { try content.write(to: URL(filePath: folder.file("www/" + name))) }
        for _ in 0..<10 {
            // Another program may take the port first. nginx then retries for a while and exits.
            let port = try Self.freePort()
            let process = try Self.start(folder, port, site)
            while process.isRunning, !Self.hasBegun(folder) || !Self.answers(port) { await Task.yield() }
            guard process.isRunning else { continue }
            (self.process, url) = (process, "http://127.0.0.1:\(port)")
            return
        }
        let log = (try? String(contentsOfFile: folder.file("error.log"), encoding: .utf8)) ?? ""
        throw NotStarted(description: "nginx does not start: \(log)")
    }

    /// The folder is removed after nginx has exited. nginx deletes its own files, and a vanishing file stops the removal of a
    /// folder.
    deinit {
        process.terminate()
        process.waitUntilExit()
    }

    func path(_ name: String) -> String { folder.file("www/" + name) }

    /// Returns the lines of the access log, each with method, path, status and range.
    ///
    /// nginx writes a line after the end of a request, possibly after the client has finished.
    func log(atLeast count: Int) async -> [String] {
        while true {
            let text = (try? String(contentsOfFile: folder.file("access.log"), encoding: .utf8)) ?? ""
            let lines = text.split(separator: "\n").map(String.init)
            if lines.count >= count { return lines }
            await Task.yield()
        }
    }

    private static func start(_ folder: Folder, _ port: Int, _ site: String) throws -> Process {
        let configuration = """
            daemon off;
            \(getuid() == 0 ? "user root;" : "")
            worker_processes 1;
            pid \(folder.file("nginx.pid"));
            events { worker_connections 256; }
            http {
                log_format short '$request_method $request_uri $status $http_range';
                access_log \(folder.file("access.log")) short;
                types { text/plain txt; }
                default_type application/octet-stream;
                client_body_temp_path \(folder.file("t1")); proxy_temp_path \(folder.file("t2"));
                fastcgi_temp_path \(folder.file("t3")); uwsgi_temp_path \(folder.file("t4"));
                scgi_temp_path \(folder.file("t5"));
                server {
                    listen 127.0.0.1:\(port);
                    root \(folder.file("www"));
                    \(site.replacing("$FOLDER", with: folder.path))
                }
            }
            """
        try Data(configuration.utf8).write(to: URL(filePath: folder.file("nginx.conf")))
        let process = Process()
        process.executableURL = URL(filePath: program ?? "")
        process.arguments = ["-c", folder.file("nginx.conf"), "-e", folder.file("error.log")]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    private static func freePort() throws -> Int {
        let (descriptor, port) = try LoopbackSocket.bound()
        close(descriptor)
        return port
    }

    /// Whether nginx listens: it writes its process number into a file after that.
    private static func hasBegun(_ folder: Folder) -> Bool {
        FileManager.default.fileExists(atPath: folder.file("nginx.pid"))
    }

    private static func answers(_ port: Int) -> Bool {
        guard let descriptor = try? LoopbackSocket.connected(to: port) else { return false }
        close(descriptor)
        return true
    }
}
