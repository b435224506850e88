import Foundation
import Testing

@testable import WorkflowEngine

/// A folder in which operations are recorded without processes.
private struct Workshop {
    let directory: TemporaryDirectory
    var history = RunHistory()
    /// The entries of the journal so far.
    private(set) var entries: [JournalEntry] = []

    init(_ files: [String: String]) throws {
        directory = try TemporaryDirectory()
        for (name, text) in files { try write(text, to: name) }
    }

    func write(_ text: String, to name: String) throws {
        let url = URL(fileURLWithPath: directory.path + "/" + name)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    func delete(_ name: String) { unlink(directory.path + "/" + name) }

    /// Returns the times of a file.
    func times(of name: String) -> [timespec] {
        var status = stat()
        stat(directory.path + "/" + name, &status)
        return [status.st_atim, status.st_mtim]
    }

    func set(_ times: [timespec], of name: String) { utimensat(AT_FDCWD, directory.path + "/" + name, times, 0) }

    func set(_ time: Date, of name: String) throws {
        try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: directory.path + "/" + name)
    }

    func operation(
        _ command: String = "cc", inputs: [String]? = ["a.c"], outputs: [String]? = ["a.o"],
        environment: [String: String] = [:], name: String = "compile", shell: Shell = .standard
    ) -> PlannedOperation {
        var settings = OperationSettings()
        (settings.inputs, settings.outputs, settings.shell) = (inputs, outputs, shell)
        return PlannedOperation(
            name: name, command: command, directory: directory.path, environment: environment, queue: "q",
            settings: SettingsBox(settings))
    }

    /// Records a run of an operation, whose command has made its outputs.
    mutating func record(
        _ operation: PlannedOperation, end: OperationRecord.End = .succeeded, listed: [String] = [],
        endsRun: Bool = true
    ) {
        let state = state(of: operation, listed: listed)
        add(.operationBegan(name: operation.name))
        guard endsRun else { return }
        let record = OperationRecord(
            name: operation.name, fingerprint: state.fingerprint, end: end, inputs: state.inputs,
            outputs: state.outputs,
            listed: listed)
        add(.operationEnded(OperationEnd(name: operation.name, kind: .succeeded, record: record)))
    }

    private mutating func add(_ entry: JournalEntry) {
        entries.append(entry)
        history.add(entry)
    }

    func decide(
        _ operation: PlannedOperation, isForced: Bool = false, planned: [String] = []
    ) -> UpToDate.Decision {
        let fingerprint = Fingerprint(operation, base: directory.path)
        let record = history.record(of: operation.name, fingerprint) { planned.contains($0.text) }
        return UpToDate.decide(record, state(of: operation, listed: record?.listed ?? []), isForced: isForced)
    }

    private func state(of operation: PlannedOperation, listed: [String]) -> UpToDate.State {
        let examiner = FileExaminer(history.cache)
        let settings = operation.settings
        return UpToDate.State(
            fingerprint: Fingerprint(operation, base: directory.path),
            inputs: (examiner.examine(settings.inputs ?? [], in: directory.path)
                + examiner.examine(paths: listed, in: directory.path)).sortedByPath,
            outputs: examiner.examine(settings.outputs ?? [], in: directory.path),
            isDeclared: settings.inputs != nil || settings.outputs != nil,
            namedOutputs: Set(operation.namedOutputs.map { ByteKey($0) }))
    }
}

/// The lies for which other tools were reported, one test for each.
struct UpToDateTests {
    private let files = ["a.c": "text", "a.o": "made", "b/c.h": "header"]

    @Test func `an operation without changes is up to date, and one without a record is not`() throws {
        var shop = try Workshop(files)
        #expect(shop.decide(shop.operation()) == .run(.noRecord))
        shop.record(shop.operation())
        #expect(shop.decide(shop.operation()) == .skip)
        #expect(shop.decide(shop.operation(), isForced: true) == .run(.forced))
        #expect(shop.decide(shop.operation(inputs: nil, outputs: nil)) == .run(.undeclared))
    }

    @Test func `a change that keeps the size and the time of a file counts`() throws {
        var shop = try Workshop(files)
        shop.record(shop.operation())
        let times = shop.times(of: "a.c")
        try shop.write("TEXT", to: "a.c")
        shop.set(times, of: "a.c")
        #expect(shop.decide(shop.operation()) == .run(.inputChanged("a.c")))
    }

    @Test func `a change in the same tick of the clock as the record counts`() throws {
        var shop = try Workshop(files)
        for round in 0..<50 {
            try shop.write("text\(round % 10)", to: "a.c")
            shop.record(shop.operation())
            try shop.write("TEXT\(round % 10)", to: "a.c")
            #expect(shop.decide(shop.operation()) == .run(.inputChanged("a.c")))
        }
    }

    @Test func `an input with an older time counts, and a newer time with the same content does not`() throws {
        var shop = try Workshop(files)
        shop.record(shop.operation())
        try shop.write("else", to: "a.c")
        try shop.set(Date(timeIntervalSince1970: 1000), of: "a.c")
        #expect(shop.decide(shop.operation()) == .run(.inputChanged("a.c")))
        try shop.write("text", to: "a.c")
        #expect(shop.decide(shop.operation()) == .skip)
    }

    @Test func `a file that was restored after a run with another content counts`() throws {
        var shop = try Workshop(files)
        shop.record(shop.operation())
        try shop.write("other", to: "a.c")
        shop.record(shop.operation())
        try shop.write("text", to: "a.c")
        #expect(shop.decide(shop.operation()) == .run(.inputChanged("a.c")))
    }

    @Test func `a deleted and an added input count`() throws {
        var shop = try Workshop(files)
        let operation = shop.operation(inputs: ["*.c", "b", "late.h"])
        shop.record(operation)
        #expect(shop.decide(operation) == .skip)
        try shop.write("", to: "d.c")
        #expect(shop.decide(operation) == .run(.inputAdded("d.c")))
        shop.delete("d.c")
        try shop.write("", to: "b/new/x.h")
        #expect(shop.decide(operation) == .run(.inputAdded("b/new")))
        shop.record(operation)
        shop.delete("b/c.h")
        #expect(shop.decide(operation) == .run(.inputDeleted("b/c.h")))
        try shop.write("header", to: "b/c.h")
        shop.delete("a.c")
        #expect(shop.decide(operation) == .run(.inputDeleted("a.c")))
        try shop.write("text", to: "a.c")
        try shop.write("", to: "late.h")
        #expect(shop.decide(operation) == .run(.inputAdded("late.h")))
    }

    @Test func `a changed command, shell, variable and directory count`() throws {
        var shop = try Workshop(files)
        shop.record(shop.operation(environment: ["A": "1", "B": "2"]))
        #expect(shop.decide(shop.operation("cc -O2", environment: ["A": "1", "B": "2"])) == .run(.commandChanged))
        #expect(
            shop.decide(shop.operation(environment: ["A": "1", "B": "2"], shell: .posix("bash"))) == .run(.shellChanged)
        )
        #expect(shop.decide(shop.operation(environment: ["A": "1", "B": "3"])) == .run(.variableChanged("B")))
        #expect(shop.decide(shop.operation(environment: ["A": "1"])) == .run(.variableChanged("B")))
        #expect(
            shop.decide(shop.operation(environment: ["A": "1", "B": "2", "C": ""])) == .run(.variableChanged("C")))
    }

    @Test func `an output that was edited or deleted counts`() throws {
        var shop = try Workshop(files)
        shop.record(shop.operation())
        try shop.write("edited", to: "a.o")
        #expect(shop.decide(shop.operation()) == .run(.outputChanged("a.o")))
        shop.delete("a.o")
        #expect(shop.decide(shop.operation()) == .run(.outputMissing("a.o")))
        try shop.write("made", to: "a.o")
        #expect(shop.decide(shop.operation()) == .skip)
    }

    @Test func `an output of a glob that was deleted counts, and a foreign file does not`() throws {
        var shop = try Workshop(files)
        let operation = shop.operation(outputs: ["*.o"])
        shop.record(operation)
        try shop.write("x", to: "foreign.o")
        #expect(shop.decide(operation) == .skip)
        shop.delete("a.o")
        #expect(shop.decide(operation) == .run(.outputMissing("a.o")))
    }

    @Test func `a file that is newer than the present time is read again`() throws {
        var shop = try Workshop(files)
        let future = Date.now + 100_000
        try shop.set(future, of: "a.c")
        shop.record(shop.operation())
        try shop.write("TEXT", to: "a.c")
        try shop.set(future, of: "a.c")
        #expect(shop.decide(shop.operation()) == .run(.inputChanged("a.c")))
    }

    @Test func `a clock that was set back lets no old content pass`() {
        let stamp = FileStamp(device: 1, inode: 2, size: 3, modified: 5_000_000_001, changed: 5_000_000_001)
        var cache = StatCache()
        // The clock showed 9 s when the file was read. Then it was set back, and the file was written at 5 s.
        cache.add(FileRecord(path: "a", content: .file(Digest(1, 1)), stamp: stamp, readTime: 4_000_000_000))
        #expect(cache.digest(for: stamp) == nil)
        cache.add(FileRecord(path: "a", content: .file(Digest(1, 1)), stamp: stamp, readTime: 9_000_000_000))
        #expect(cache.digest(for: stamp)?.digest == Digest(1, 1))
        var other = stamp
        other.changed += 1
        #expect(cache.digest(for: other) == nil)
    }

    @Test func `a file system with times of whole seconds is trusted after two seconds only`() {
        let second: Int64 = 1_000_000_000
        let stamp = FileStamp(device: 1, inode: 2, size: 3, modified: 5 * second, changed: 5 * second)
        var cache = StatCache()
        cache.add(FileRecord(path: "a", content: .file(Digest(1, 1)), stamp: stamp, readTime: 6 * second))
        #expect(cache.digest(for: stamp) == nil)
        cache.add(FileRecord(path: "a", content: .file(Digest(1, 1)), stamp: stamp, readTime: 8 * second))
        #expect(cache.digest(for: stamp) != nil)
    }

    @Test func `a run that failed, was cancelled or did not end is no success`() throws {
        var shop = try Workshop(files)
        shop.record(shop.operation())
        shop.record(shop.operation(), end: .failed)
        #expect(shop.decide(shop.operation()) == .run(.lastRunFailed))
        shop.record(shop.operation(), end: .cancelled)
        #expect(shop.decide(shop.operation()) == .run(.lastRunDidNotEnd))
        shop.record(shop.operation())
        shop.record(shop.operation(), endsRun: false)
        #expect(shop.decide(shop.operation()) == .run(.lastRunDidNotEnd))
    }

    @Test func `a renamed operation keeps its record`() throws {
        var shop = try Workshop(files)
        shop.record(shop.operation())
        #expect(shop.decide(shop.operation(name: "build")) == .skip)
        #expect(shop.decide(shop.operation("other", name: "build")) == .run(.noRecord))
    }

    @Test func `an operation with the same command as another one has no part in its record`() throws {
        var shop = try Workshop(files)
        shop.record(shop.operation())
        #expect(shop.decide(shop.operation(name: "second"), planned: ["compile", "second"]) == .run(.noRecord))
    }

    @Test func `a new declared output that another program made counts`() throws {
        var shop = try Workshop(files)
        shop.record(shop.operation())
        try shop.write("garbage", to: "b.o")
        #expect(shop.decide(shop.operation(outputs: ["a.o", "b.o"])) == .run(.outputAdded("b.o")))
    }

    @Test func `a file whose name has special characters is an input, and so is a listed one`() throws {
        var shop = try Workshop(["a[1].c": "1", "g[1].h": "1", "a1.o": "foreign", "a[1].o": "1"])
        let operation = shop.operation(inputs: [Glob.escaped("a[1].c")], outputs: ["a\\[1].o"])
        shop.record(operation, listed: ["g[1].h"])
        #expect(shop.decide(operation) == .skip)
        try shop.write("2", to: "g[1].h")
        #expect(shop.decide(operation) == .run(.inputChanged("g[1].h")))
        try shop.write("2", to: "a[1].c")
        #expect(shop.decide(operation) == .run(.inputChanged("a[1].c")))
        shop.delete("a[1].o")
        try shop.write("1", to: "a[1].c")
        try shop.write("1", to: "g[1].h")
        #expect(shop.decide(operation) == .run(.outputMissing("a[1].o")))
    }

    @Test func `a link to a folder within an input folder has the files of its target`() throws {
        var shop = try Workshop(["src/f": "1", "d/x": "1", "other/f": "1"])
        symlink("../src", shop.directory.path + "/d/l")
        let operation = shop.operation(inputs: ["d"], outputs: nil)
        shop.record(operation)
        #expect(shop.decide(operation) == .skip)
        try shop.write("2", to: "src/f")
        #expect(shop.decide(operation) == .run(.inputChanged("d/l/f")))
    }

    @Test func `a header of the depfile counts, and one that changed while the command ran is uncertain`() throws {
        var shop = try Workshop(files)
        shop.record(shop.operation(), listed: ["b/c.h"])
        #expect(shop.decide(shop.operation()) == .skip)
        try shop.write("HEADER", to: "b/c.h")
        #expect(shop.decide(shop.operation()) == .run(.inputChanged("b/c.h")))
        let late = FileExaminer().examine(paths: ["b/c.h"], in: shop.directory.path, unchangedSince: 0)
        #expect(late.map(\.content) == [.uncertain])
        let record = OperationRecord(
            name: "x", fingerprint: Fingerprint(shop.operation(), base: "."), end: .succeeded, inputs: late)
        let sure = FileExaminer().examine(paths: ["b/c.h"], in: shop.directory.path)
        for (inputs, reason) in [(sure, UpToDate.Reason.inputUncertain("b/c.h")), (late, .inputUnreadable("b/c.h"))] {
            let state = UpToDate.State(fingerprint: record.fingerprint, inputs: inputs, outputs: [], isDeclared: true)
            #expect(UpToDate.decide(record, state) == .run(reason))
        }
    }

    @Test func `equal names of different bytes are different files`() throws {
        var shop = try Workshop(["e\u{301}": "1"])
        try shop.write("1", to: "\u{E9}")
        let operation = shop.operation(inputs: ["*"], outputs: nil)
        shop.record(operation)
        shop.delete("\u{E9}")
        guard case .run(.inputDeleted) = shop.decide(operation) else {
            Issue.record("the deletion is not noticed")
            return
        }
    }

    @Test func `a folder with a loop of links ends, and the journal's folder is no input`() throws {
        var shop = try Workshop(["d/x": "1"])
        symlink("..", shop.directory.path + "/d/up")
        let operation = shop.operation(inputs: ["."], outputs: nil)
        shop.record(operation)
        try shop.write("1", to: ".opq/journal")
        #expect(shop.decide(operation) == .skip)
    }
}
