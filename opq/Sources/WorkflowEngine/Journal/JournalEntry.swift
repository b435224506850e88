/// An entry of the journal of a workflow.
enum JournalEntry: Equatable, Sendable {
    /// A run began. `file` is the digest of the workflow file.
    case runBegan(number: Int, time: Int64, file: Digest)
    /// The part of the workflow for which the run was asked. After the start of the run.
    case chosen(RunChoice)
    /// The command of an operation began. Only for operations with declared files, or if the run continues another one.
    case operationBegan(name: String)
    case operationEnded(OperationEnd)
    /// Names of operations, to which later entries refer by the digest.
    case names(Digest, [String])
    /// Operations ended without a run of their commands, all for the same reason. Each run of a large workflow has such operations, and
    /// often the same ones.
    case endedTogether(OperationEnd.Kind, text: String, names: Digest)
    /// Files were read whose attributes had changed, but not their contents.
    case seen([FileRecord])
    case runEnded(time: Int64, isInterrupted: Bool)
    /// The process of a command started. After the begin of its operation, and only if another opq may have to end it.
    case processBegan(name: String, ProcessMark)
    /// The history keeps this number of runs. After the start of a run.
    case keeps(runs: Int)
}

/// The end of an operation in a run.
struct OperationEnd: Equatable, Sendable {
    /// How the operation ended.
    enum Kind: UInt8, Sendable { case succeeded, upToDate, failed, skipped, cancelled }

    /// The output of the command.
    enum Log: UInt8, Sendable {
        case empty, inFile
        /// The output could not be written.
        case lost
    }

    let name: String
    let kind: Kind
    /// The reason of a failure or of a skip. Empty for others.
    var text = ""
    /// The running time of the command, in nanoseconds. `nil` if the command did not run.
    var duration: Int64?
    /// Whether the command printed something, and that is in a file.
    var log = Log.empty
    /// The record by which a later run decides. `nil` if the operation did not run.
    var record: OperationRecord?
}

extension JournalEntry {
    /// Creates an entry from the bytes of a frame. `nil` if the bytes have another form.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        switch reader.byte() {
        case 1: self = .runBegan(number: reader.int(), time: Int64(reader.int()), file: reader.digest())
        case 2: self = .operationBegan(name: reader.text())
        case 3: self = .operationEnded(OperationEnd(from: &reader))
        case 4: self = .seen(reader.list { FileRecord(from: &$0) })
        case 5: self = .runEnded(time: Int64(reader.int()), isInterrupted: reader.byte() == 1)
        case 6: self = .chosen(RunChoice(from: &reader))
        case 7: self = .processBegan(name: reader.text(), ProcessMark(from: &reader))
        case 8: self = .keeps(runs: reader.int())
        case 9: self = .names(reader.digest(), reader.list { $0.text() })
        case 10:
            self = .endedTogether(
                OperationEnd.Kind(rawValue: reader.byte()) ?? reader.fail(.failed), text: reader.text(),
                names: reader.digest())
        default: return nil
        }
        guard reader.isAtEnd else { return nil }
    }

    /// The bytes of the entry.
    var bytes: [UInt8] {
        var writer = ByteWriter()
        switch self {
        case .runBegan(let number, let time, let file):
            writer.add(1)
            writer.add(int: number)
            writer.add(int: Int(time))
            writer.add(file)
        case .operationBegan(let name):
            writer.add(2)
            writer.add(name)
        case .operationEnded(let end):
            writer.add(3)
            end.write(to: &writer)
        case .seen(let files):
            writer.add(4)
            writer.add(files) { $1.write(to: &$0) }
        case .runEnded(let time, let isInterrupted):
            writer.add(5)
            writer.add(int: Int(time))
            writer.add(isInterrupted ? 1 : 0)
        case .chosen(let choice):
            writer.add(6)
            choice.write(to: &writer)
        case .processBegan(let name, let mark):
            writer.add(7)
            writer.add(name)
            mark.write(to: &writer)
        case .keeps(let count):
            writer.add(8)
            writer.add(int: count)
        case .names(let digest, let names):
            writer.add(9)
            writer.add(digest)
            writer.add(names) { $0.add($1) }
        case .endedTogether(let kind, let text, let names):
            writer.add(10)
            writer.add(kind.rawValue)
            writer.add(text)
            writer.add(names)
        }
        return writer.bytes
    }
}

extension RunChoice {
    init(from reader: inout ByteReader) {
        self.init()
        variables = Dictionary(reader.list { ($0.text(), $0.text()) }) { $1 }
        targets = reader.list { $0.text() }
        only = reader.list { $0.text() }
        from = reader.list { $0.text() }
        until = reader.list { $0.text() }
        resumes = reader.byte() == 1
        // The choice is the last part of its entry. Journals of earlier versions end here.
        if !reader.isAtEnd { place = RunPlace(rawValue: reader.text()) ?? reader.fail(.local) }
    }

    func write(to writer: inout ByteWriter) {
        writer.add(variables.sorted { $0.key < $1.key }) { writer, pair in
            writer.add(pair.key)
            writer.add(pair.value)
        }
        for names in [targets, only, from, until] { writer.add(names) { $0.add($1) } }
        writer.add(resumes ? 1 : 0)
        if place != .local { writer.add(place.rawValue) }
    }
}

extension OperationEnd {
    init(from reader: inout ByteReader) {
        name = reader.text()
        kind = Kind(rawValue: reader.byte()) ?? reader.fail(.failed)
        text = reader.text()
        duration = reader.optional { Int64($0.int()) }
        log = Log(rawValue: reader.byte()) ?? reader.fail(.lost)
        let name = name
        record = reader.optional { OperationRecord(named: name, from: &$0) }
    }

    func write(to writer: inout ByteWriter) {
        writer.add(name)
        writer.add(kind.rawValue)
        writer.add(text)
        writer.add(duration) { $0.add(int: Int($1)) }
        writer.add(log.rawValue)
        writer.add(record) { $1.write(to: &$0) }
    }
}

extension OperationRecord {
    init(named name: String, from reader: inout ByteReader) {
        self.name = name
        fingerprint = Fingerprint(
            command: reader.digest(), shell: reader.digest(), directory: reader.text(),
            environment: reader.list { Fingerprint.Variable(name: $0.text(), value: $0.digest()) })
        end = End(rawValue: reader.byte()) ?? reader.fail(.unknown)
        inputs = reader.list { FileRecord(from: &$0) }
        outputs = reader.list { FileRecord(from: &$0) }
        listed = reader.list { $0.text() }
        // The record is the last part of its entry. Journals of earlier versions end here.
        if !reader.isAtEnd { captured = reader.optional { $0.text() } }
    }

    func write(to writer: inout ByteWriter) {
        writer.add(fingerprint.command)
        writer.add(fingerprint.shell)
        writer.add(fingerprint.directory)
        writer.add(fingerprint.environment) { writer, variable in
            writer.add(variable.name)
            writer.add(variable.value)
        }
        writer.add(end.rawValue)
        writer.add(inputs) { $1.write(to: &$0) }
        writer.add(outputs) { $1.write(to: &$0) }
        writer.add(listed) { $0.add($1) }
        if captured != nil { writer.add(captured) { $0.add($1) } }
    }
}

extension FileRecord {
    init(from reader: inout ByteReader) {
        path = reader.text()
        switch reader.byte() {
        case 0: content = .missing
        case 1: content = .file(reader.digest())
        case 2: content = .folder
        case 3: content = .other
        default: content = .uncertain
        }
        guard case .file = content else { return }
        stamp = FileStamp(
            device: UInt64(bitPattern: Int64(reader.int())), inode: UInt64(bitPattern: Int64(reader.int())),
            size: Int64(reader.int()), modified: Int64(reader.int()), changed: Int64(reader.int()))
        readTime = Int64(reader.int())
    }

    func write(to writer: inout ByteWriter) {
        writer.add(path)
        switch content {
        case .missing: writer.add(0)
        case .file(let digest):
            writer.add(1)
            writer.add(digest)
            let stamp = stamp ?? FileStamp(device: 0, inode: 0, size: -1, modified: 0, changed: 0)
            for number in [
                Int64(bitPattern: stamp.device), Int64(bitPattern: stamp.inode), stamp.size, stamp.modified,
                stamp.changed,
                readTime,
            ] { writer.add(int: Int(number)) }
        case .folder: writer.add(2)
        case .other: writer.add(3)
        case .uncertain: writer.add(4)
        }
    }
}
