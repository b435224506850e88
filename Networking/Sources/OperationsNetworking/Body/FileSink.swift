import Crypto
import HTTPCore
import HTTPTypes
import NIOCore
import SystemPackage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A sink that writes the body to a file beside the target and renames it when it is complete.
///
/// The part and a note about its origin stand beside the target (`PartNames`). Another operation can continue from the part and
/// its note, even in another process. Part and note disappear when the target is complete. A lock on the part excludes
/// concurrent writers of the same target.
final class FileSink: BodySink, @unchecked Sendable {
    // Sendable: used by one task at a time.
    private let target: FilePath
    /// The names of the part and the note; nil if the target cannot have a part.
    private let names: PartNames?
    private let digest: HTTPDigest?
    private let steps: FileStepHook?
    private var file: SystemFile?
    private var count: Int64 = 0
    /// The hash of the whole file; nil if an earlier attempt wrote some of it. The file must then be read.
    private var hash: SHA256?

    /// The note about the origin of a part.
    private struct Note: Codable {
        var url: String
        var point: ResumePoint
    }

    init(target: String, digest: HTTPDigest?, steps: FileStepHook? = nil) {
        self.target = FilePath(target)
        names = PartNames(of: self.target)
        self.digest = digest
        self.steps = steps
    }

    deinit { close() }

    var prefersRanges: Bool { true }

    func resumePoint(for address: HTTPAddress) throws -> ResumePoint? {
        let (file, names) = try opened()
        let length = try attempting { try file.seek(offset: 0, from: .end) }
        guard length > 0, let data = try? Data(contentsOf: URL(filePath: names.note.string)),
            let note = try? JSONDecoder().decode(Note.self, from: data),
            note.url == address.withoutFragment.withoutCredentials.description
        else { return nil }
        return note.point.after(length)
    }

    func begin(at offset: Int64, length: Int64?, _ head: HTTPResponse, at address: HTTPAddress) throws {
        guard 200..<300 ~= head.status.code else { throw TransferFailure(.unacceptableStatus(head.status.code)) }
        let (file, names) = try opened()
        try attempting {
            try file.resize(to: offset)
            try file.seek(offset: offset, from: .start)
        }
        count = offset
        hash = offset == 0 && digest != nil ? SHA256() : nil
        guard offset == 0 else { return }
        // Remove the old note before the new one is written, so that a part never has the note of another resource.
        removeNote()
        guard let point = ResumePoint(beginning: head) else { return }
        let content = Note(url: address.withoutFragment.withoutCredentials.description, point: point)
        try attempting {
            try steps?(.noted)
            try JSONEncoder().encode(content).write(to: URL(filePath: names.note.string), options: .atomic)
        }
    }

    func write(_ bytes: ByteBuffer) throws {
        guard let file else { return }
        try attempting {
            try steps?(.written)
            try bytes.withUnsafeReadableBytes { _ = try file.writeAll($0) }
        }
        count += Int64(bytes.readableBytes)
        if hash != nil { bytes.withUnsafeReadableBytes { hash?.update(bufferPointer: $0) } }
    }

    func finish() throws {
        let (file, names) = try opened()
        if let digest {
            let actual = try hash.map { HTTPDigest(Array($0.finalize())) } ?? attempting { try HTTPDigest(of: file) }
            guard actual == digest else {
                forget()
                throw TransferFailure(.digestMismatch(expected: digest.text, actual: actual.text))
            }
        }
        try attempting {
            try steps?(.renamed)
            guard try file.isStill(at: names.part) else {
                // The note describes the old part.
                removeNote()
                throw DownloadTargetInUse(path: names.part.string)
            }
            try rename(names.part, to: target)
        }
        removeNote()
        close()
    }

    func forget() {
        removeNote()
        try? file?.resize(to: 0)
        (count, hash) = (0, nil)
    }

    /// Closes the part. Keeps the part if it can be continued.
    func abandon(_ failure: any Error) {
        guard let file, let names else { return }
        if !FileManager.default.fileExists(atPath: names.note.string), (try? file.isStill(at: names.part)) == true {
            try? FileManager.default.removeItem(atPath: names.part.string)
        }
        close()
    }

    private func removeNote() {
        if let names { try? FileManager.default.removeItem(atPath: names.note.string) }
    }

    private func close() {
        try? file?.unlockAndClose()
        file = nil
    }

    private func opened() throws -> (SystemFile, PartNames) {
        guard let names else { throw TransferFailure(.unusableName(target.lastComponent?.string ?? target.string)) }
        if let file { return (file, names) }
        let new = try attempting {
            try steps?(.opened)
            return try SystemFile.openExclusively(names.part)
        }
        guard let new else {
            throw TransferFailure(.cannotWrite(path: target.string, DownloadTargetInUse(path: names.part.string)))
        }
        file = new
        return (new, names)
    }

    private func attempting<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let failure as TransferFailure {
            throw failure
        } catch Errno.noSpace {
            throw TransferFailure(.noSpace)
        } catch {
            throw TransferFailure(.cannotWrite(path: target.string, error))
        }
    }
}

/// The steps of writing a body to a file, in order. `written` repeats for each portion.
enum FileStep: String, CaseIterable, Sendable { case opened, noted, written, renamed }

/// A function that is called before each step. An error replaces the file operation, so tests can simulate a full disk.
typealias FileStepHook = @Sendable (FileStep) throws -> Void

/// An error for a part that another operation is writing, or that another program has replaced. The other operation may belong
/// to another process.
public struct DownloadTargetInUse: Error, CustomStringConvertible {
    /// The path of the part.
    public let path: String
    public var description: String { "'\(path)' is being written by another download" }
}

/// An error for a file of another user in the place of the part that cannot be removed. The other user could change the file at
/// any time.
public struct PartIsForeign: Error, CustomStringConvertible {
    /// The path of the file.
    public let path: String
    public var description: String { "'\(path)' belongs to another user and cannot be removed" }
}

/// The expected SHA-256 digest of a download.
public struct HTTPDigest: Sendable, Hashable, Codable {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Creates a digest from 64 hexadecimal digits; nil for any other text.
    public init?(sha256 text: String) {
        let digits = Array(text.utf8)
        guard digits.count == 64 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: 64, by: 2) {
            guard let byte = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16),
                digits[index] != UInt8(ascii: "+")
            else { return nil }
            bytes.append(byte)
        }
        self.bytes = bytes
    }

    /// Whether the file has this digest. Returns false if the file cannot be read. Reads the whole file.
    public func matches(fileAt path: String) -> Bool {
        guard let file = try? SystemFile.open(FilePath(path), .readOnly, options: .closeOnExec) else { return false }
        defer { try? file.close() }
        return (try? Self(of: file)) == self
    }

    /// Computes the digest of a whole file.
    init(of file: SystemFile) throws {
        var hash = SHA256()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 1)
        defer { buffer.deallocate() }
        try file.seek(offset: 0, from: .start)
        while case let count = try file.read(into: buffer), count > 0 {
            hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
        self.init(Array(hash.finalize()))
    }

    var text: String { bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
