import Testing

@testable import WorkflowEngine

struct JournalFormatTests {
    private static let stamp = FileStamp(device: 1, inode: .max, size: 3, modified: -4, changed: .max)

    private static let entries: [JournalEntry] = {
        let file = FileRecord(path: "a.c", content: .file(Digest(1, .max)), stamp: stamp, readTime: 7)
        let fingerprint = Fingerprint(
            command: Digest(1, 2), shell: Digest(3, 4), directory: "d",
            environment: [.init(name: "A", value: Digest(5, 6))])
        let record = OperationRecord(
            name: "compile[é]", fingerprint: fingerprint, end: .succeeded, inputs: [file],
            outputs: ["m", "f", "o", "u"].map { path in
                FileRecord(path: path, content: ["m": .missing, "f": .folder, "o": .other][path] ?? .uncertain)
            }, listed: ["a.h"])
        var choice = RunChoice()
        (choice.variables, choice.targets, choice.until, choice.resumes) = (["mode": "é"], ["b"], ["c"], true)
        choice.place = .slurm
        return [
            .runBegan(number: 3, time: 1_700_000_000_000_000_000, file: Digest(8, 9)), .chosen(choice),
            .keeps(runs: 2), .operationBegan(name: "compile[é]"),
            .processBegan(name: "compile[é]", ProcessMark(identifier: 7, earliest: 1, latest: .max)),
            .operationEnded(
                OperationEnd(name: "compile[é]", kind: .succeeded, duration: 5, log: .inFile, record: record)),
            .operationEnded(OperationEnd(name: "b", kind: .failed, text: "exit 3", log: .lost)), .seen([file]),
            .names(Digest(6, 7), ["x", "y[é]"]), .endedTogether(.skipped, text: "b failed", names: Digest(6, 7)),
            .runEnded(time: 2, isInterrupted: true),
        ]
    }()

    private static let bytes = JournalFormat.header + entries.flatMap { JournalFormat.frame($0) }

    @Test func `entries are read as they were written`() throws {
        let contents = try JournalFormat.read(Self.bytes)
        #expect(contents.entries == Self.entries)
        #expect(contents.validCount == Self.bytes.count)
    }

    @Test func `a journal that ends at any byte has all entries before that byte`() throws {
        var ends = [JournalFormat.header.count]
        for entry in Self.entries { ends.append(ends[ends.count - 1] + JournalFormat.frame(entry).count) }
        for count in 0...Self.bytes.count {
            let contents = try JournalFormat.read(Array(Self.bytes.prefix(count)))
            let complete = max(ends.count { $0 <= count } - 1, 0)
            #expect(contents.entries == Array(Self.entries.prefix(complete)), "\(count) bytes")
            #expect(contents.validCount == (count < ends[0] ? 0 : ends[complete]), "\(count) bytes")
        }
    }

    @Test func `a journal that ends in zeros, as after a loss of power, has the entries before them`() throws {
        let cut = Array(Self.bytes.dropLast(5)) + [UInt8](repeating: 0, count: 4096)
        #expect(try JournalFormat.read(cut).entries == Array(Self.entries.dropLast()))
    }

    @Test func `a bad byte anywhere before the last entry is damage, with its place`() {
        let last = JournalFormat.frame(Self.entries[Self.entries.count - 1]).count
        for offset in JournalFormat.header.count..<Self.bytes.count - last {
            var bytes = Self.bytes
            bytes[offset] ^= 0x55
            #expect(throws: JournalFormat.Damage.self, "byte \(offset)") { try JournalFormat.read(bytes) }
        }
        var bytes = Self.bytes
        bytes[JournalFormat.header.count + 8] = 99
        #expect(throws: JournalFormat.Damage.badEntry(offset: JournalFormat.header.count)) {
            try JournalFormat.read(bytes)
        }
        #expect(JournalFormat.Damage.badEntry(offset: 14).text == "the entry at byte 14 is damaged")
    }

    @Test func `a journal of a later version is named, and so is another file`() {
        #expect(throws: JournalFormat.Damage.unknownVersion("opq journal 2")) {
            try JournalFormat.read(Array("opq journal 2\nxyz".utf8))
        }
        #expect(
            JournalFormat.Damage.unknownVersion("opq journal 2").text
                == "it was written by a later version of opq ('opq journal 2')")
        #expect(JournalFormat.Damage.unknownVersion("<html>").text == "it does not begin like a journal")
    }

    @Test(arguments: [0, 1, -1, 63, 64, -65, 1 << 40, .max, .min])
    func `numbers of any size are kept`(number: Int) {
        var writer = ByteWriter()
        writer.add(int: number)
        writer.bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            #expect(reader.int() == number)
            #expect(reader.isAtEnd)
        }
    }
}
