/// The format of a journal file: a first line, and then frames. A frame is the length of the entry, a checksum, and the entry.
///
/// A process may end at any byte of a write. So the last frame may be incomplete, and is ignored then. A bad frame before
/// complete frames is damage.
enum JournalFormat {
    /// The first line of a journal.
    static let header = Array("opq journal 1\n".utf8)

    /// The contents of a journal file.
    struct Contents: Equatable {
        var entries: [JournalEntry] = []
        /// The number of bytes up to the end of the last complete frame.
        var validCount = 0
    }

    /// The reason why a journal cannot be read.
    enum Damage: Error, Equatable {
        /// The file is no journal, or one of a later version.
        case unknownVersion(String)
        /// An entry cannot be read, and later entries can.
        case badEntry(offset: Int)

        /// The reason as a text for the user.
        var text: String {
            switch self {
            case .unknownVersion(let line):
                line.hasPrefix("opq journal ")
                    ? "it was written by a later version of opq ('\(line)')" : "it does not begin like a journal"
            case .badEntry(let offset): "the entry at byte \(offset) is damaged"
            }
        }
    }

    /// Returns the bytes of an entry with its length and its checksum.
    static func frame(_ entry: JournalEntry) -> [UInt8] {
        let bytes = entry.bytes
        var frame: [UInt8] = []
        frame.reserveCapacity(bytes.count + 8)
        for number in [UInt32(bytes.count), bytes.withUnsafeBytes { checksum($0) }] {
            withUnsafeBytes(of: number.littleEndian) { frame += $0 }
        }
        return frame + bytes
    }

    /// Reads the bytes of a journal.
    static func read(_ bytes: [UInt8]) throws(Damage) -> Contents {
        try bytes.withUnsafeBytes { bytes in Result { () throws(Damage) in try read(bytes) } }.get()
    }

    private static func read(_ bytes: UnsafeRawBufferPointer) throws(Damage) -> Contents {
        guard bytes.starts(with: header) else {
            if header.starts(with: bytes) { return Contents() }
            throw .unknownVersion(String(decoding: bytes.prefix(40).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
        }
        var contents = Contents(validCount: header.count)
        while let frame = frame(at: contents.validCount, in: bytes) {
            guard let entry = JournalEntry(frame) else { throw .badEntry(offset: contents.validCount) }
            contents.entries.append(entry)
            contents.validCount += 8 + frame.count
        }
        let start = contents.validCount
        if start < bytes.count, (start + 1..<bytes.count).contains(where: { frame(at: $0, in: bytes) != nil }) {
            throw .badEntry(offset: start)
        }
        return contents
    }

    /// Returns the entry in the frame at an offset. `nil` if the frame is incomplete or damaged.
    private static func frame(at offset: Int, in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard bytes.count - offset > 8 else { return nil }
        func number(_ offset: Int) -> UInt32 {
            UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        }
        let count = Int(number(offset))
        guard count > 0, count <= bytes.count - offset - 8 else { return nil }
        let entry = UnsafeRawBufferPointer(rebasing: bytes[offset + 8..<offset + 8 + count])
        return checksum(entry) == number(offset + 4) ? entry : nil
    }

    private static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        var hasher = DigestHasher()
        hasher.add(bytes)
        return UInt32(truncatingIfNeeded: hasher.finish().first)
    }
}
