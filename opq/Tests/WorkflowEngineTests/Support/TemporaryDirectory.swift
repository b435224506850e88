import Foundation

/// A directory that is deleted with this object.
final class TemporaryDirectory: Sendable {
    let path = NSTemporaryDirectory() + "opq-tests-\(UUID().uuidString)"

    init(files: [String] = []) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for file in files {
            let url = URL(fileURLWithPath: path).appendingPathComponent(file)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data().write(to: url)
        }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Returns the contents of a file in the directory.
    func text(of file: String) throws -> String {
        try String(contentsOfFile: path + "/" + file, encoding: .utf8)
    }
}
