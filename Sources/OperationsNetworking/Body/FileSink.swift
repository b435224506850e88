#if Networking
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

/// Writes the body to a file beside the target, and gives it the target's name when it is complete (rule D1).
///
/// Beside the target stands what has come so far, and what it is a part of (`PartNames`): so another operation, also in
/// another process, goes on where this one was. Both are gone when the target is there. Two that write the same target at a
/// time exclude each other by a lock on the part.
final class FileSink: BodySink, @unchecked Sendable {
    // Sendable: used by one task at a time.
    private let target: FilePath
    /// Nil for a target that can have none.
    private let names: PartNames?
    private let digest: HTTPDigest?
    private let steps: FileStepHook?
    private var file: SystemFile?
    private var count: Int64 = 0
    /// Of all that is in the file; nil when some of it came in another attempt, and has to be read.
    private var hash: SHA256?

    /// What a part is a part of.
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
        // First gone, then made anew: a part is never taken for a part of something else.
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
                // It describes the old part.
                removeNote()
                throw PartIsTaken(path: names.part.string)
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

    /// What is there stays, if it can be continued.
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
            throw TransferFailure(.cannotWrite(path: target.string, PartIsTaken(path: names.part.string)))
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

/// What writing a body to a file consists of, in this order; `written` as often as bytes come.
enum FileStep: String, CaseIterable, Sendable { case opened, noted, written, renamed }

/// Called before each step. Throws in place of the file operation: so tests have the disk full at any of them.
typealias FileStepHook = @Sendable (FileStep) throws -> Void

/// Another operation, maybe of another process, downloads to the same place, or a program has replaced the part.
public struct PartIsTaken: Error, CustomStringConvertible {
    public let path: String
    public var description: String { "'\(path)' is being written by another download" }
}

/// A file of another user stands in the place of the part, and cannot be removed. The user could change the file at any time.
public struct PartIsForeign: Error, CustomStringConvertible {
    public let path: String
    public var description: String { "'\(path)' belongs to another user" }
}

/// The SHA-256 of what a download is to be.
public struct HTTPDigest: Sendable, Hashable, Codable {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// From 64 hexadecimal digits; nil if it is something else.
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

    /// False also for what cannot be read. Takes as long as reading the file does.
    package func matches(fileAt path: String) -> Bool {
        guard let file = try? SystemFile.open(FilePath(path), .readOnly, options: .closeOnExec) else { return false }
        defer { try? file.close() }
        return (try? Self(of: file)) == self
    }

    /// Of a file, from its beginning.
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
#endif
