import Glibc

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import struct Foundation.Data
import class Foundation.FileManager
#endif

/// File operations outside of the measurements.
enum Folder {
    static func make(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    /// Removes a file or folder with its content, if it exists.
    static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

    static func names(_ path: String) throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path) }

    /// Returns the size of all files in a folder together.
    static func byteCount(_ path: String) throws -> Int {
        try names(path).reduce(0) { count, name in
            var status = stat()
            guard stat("\(path)/\(name)", &status) == 0 else { throw WorkMissing("\(name) cannot be examined") }
            return count + Int(status.st_size)
        }
    }

    static func text(of path: String) throws -> String { String(decoding: try bytes(of: path), as: UTF8.self) }

    static func bytes(of path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }

    static func write(_ text: String, to path: String) throws { try write(Array(text.utf8), to: path) }

    static func write(_ bytes: [UInt8], to path: String) throws { try Data(bytes).write(to: URL(filePath: path)) }

    static func link(_ path: String, as other: String) throws {
        try FileManager.default.linkItem(atPath: path, toPath: other)
    }
}

extension Contender {
    /// Returns the program of the contender.
    ///
    /// - Throws: `SiteFailed`, if the program is not installed.
    func installed() throws -> Program {
        guard let name = program?.name, let program = Program(name) else {
            throw SiteFailed("\(rawValue) is not installed")
        }
        return program
    }
}
