/// The decision whether an operation is up to date.
///
/// Contents and commands are compared with the record of the last success. Times are not compared: *different* counts, and never
/// *newer*.
enum UpToDate {
    /// A decision.
    enum Decision: Equatable, Sendable {
        case skip
        case run(Reason)
    }

    /// The reason why an operation runs.
    enum Reason: Equatable, Sendable {
        /// The user asked for it.
        case forced
        /// The workflow declares neither inputs nor outputs of the operation.
        case undeclared
        case noRecord
        case lastRunFailed
        case lastRunDidNotEnd
        case commandChanged
        case shellChanged
        case directoryChanged
        case variableChanged(String)
        case inputChanged(String)
        case inputAdded(String)
        case inputDeleted(String)
        /// The input has changed while the last command ran, as far as its times show.
        case inputUncertain(String)
        case inputUnreadable(String)
        case outputMissing(String)
        /// The file declares the output since the last success.
        case outputAdded(String)
        case outputChanged(String)
        /// The last success has left no captured output.
        case notCaptured
        /// An operation before this one ran, and this one declares no files by which it could be compared.
        case earlierRan(String)
    }

    /// The present state of an operation.
    struct State: Equatable, Sendable {
        let fingerprint: Fingerprint
        /// The declared inputs and the files of the last depfile, sorted by the bytes of the paths.
        let inputs: [FileRecord]
        /// The declared outputs, sorted by the bytes of the paths.
        let outputs: [FileRecord]
        /// Whether the workflow declares inputs or outputs of the operation.
        let isDeclared: Bool
        /// The outputs that are declared by their names, and not by globs.
        var namedOutputs: Set<ByteKey> = []
    }

    /// Decides whether an operation runs.
    static func decide(_ record: OperationRecord?, _ state: State, isForced: Bool = false) -> Decision {
        if isForced { return .run(.forced) }
        guard state.isDeclared else { return .run(.undeclared) }
        guard let record else { return .run(.noRecord) }
        switch record.end {
        case .succeeded: break
        case .failed: return .run(.lastRunFailed)
        case .cancelled, .unknown: return .run(.lastRunDidNotEnd)
        }
        if let reason = difference(record.fingerprint, state.fingerprint) { return .run(reason) }
        if let reason = inputDifference(record.inputs, state.inputs) { return .run(reason) }
        if let reason = outputDifference(record.outputs, state) { return .run(reason) }
        return .skip
    }

    /// Returns the first difference between the commands of two fingerprints.
    static func difference(_ old: Fingerprint, _ new: Fingerprint) -> Reason? {
        if old.command != new.command { return .commandChanged }
        if old.shell != new.shell { return .shellChanged }
        if !old.directory.hasSameBytes(as: new.directory) { return .directoryChanged }
        guard old.environment != new.environment else { return nil }
        let values = Dictionary(old.environment.map { ($0.name, $0.value) }) { $1 }
        if let changed = new.environment.first(where: { values[$0.name] != $0.value }) {
            return .variableChanged(changed.name)
        }
        let names = Set(new.environment.map(\.name))
        return .variableChanged(old.environment.first { !names.contains($0.name) }?.name ?? "")
    }

    private static func inputDifference(_ old: [FileRecord], _ new: [FileRecord]) -> Reason? {
        merge(old, new) { path, old, new in
            switch (old, new) {
            case (_, .uncertain?): .inputUnreadable(path)
            case (.uncertain?, _): .inputUncertain(path)
            case (nil, .missing?), (.missing?, nil): nil
            case (nil, _?),
                (.missing?, _?) where new != .missing:
                .inputAdded(path)
            case (_?, nil),
                (_?, .missing?) where old != .missing:
                .inputDeleted(path)
            default: old == new ? nil : .inputChanged(path)
            }
        }
    }

    private static func outputDifference(_ old: [FileRecord], _ state: State) -> Reason? {
        merge(old, state.outputs) { path, old, new in
            switch (old, new) {
            case (_, .missing?), (_?, nil): .outputMissing(path)
            // A glob may match a file that another program has made. The command has not made it.
            case (nil, _?): state.namedOutputs.contains(ByteKey(path)) ? .outputAdded(path) : nil
            default: old == new && new != .uncertain ? nil : .outputChanged(path)
            }
        }
    }

    /// Walks through two sorted lists, and returns the first result that is not `nil`.
    private static func merge(
        _ old: [FileRecord], _ new: [FileRecord],
        _ compare: (_ path: String, _ old: FileContent?, _ new: FileContent?) -> Reason?
    ) -> Reason? {
        var (left, right) = (old[...], new[...])
        while let path = smaller(left.first?.path, right.first?.path) {
            let isOld = left.first.map { $0.path.hasSameBytes(as: path) } ?? false
            let isNew = right.first.map { $0.path.hasSameBytes(as: path) } ?? false
            let result = compare(path, isOld ? left.first?.content : nil, isNew ? right.first?.content : nil)
            if let result { return result }
            if isOld { left = left.dropFirst() }
            if isNew { right = right.dropFirst() }
        }
        return nil
    }

    private static func smaller(_ left: String?, _ right: String?) -> String? {
        guard let left, let right else { return left ?? right }
        return right.bytesPrecede(left) ? right : left
    }
}

extension UpToDate.Reason {
    /// The reason as a text for the user.
    var text: String {
        switch self {
        case .forced: "--force"
        case .undeclared: "it declares no inputs and outputs"
        case .noRecord: "no success is recorded"
        case .lastRunFailed: "its last run failed"
        case .lastRunDidNotEnd: "its last run did not end"
        case .commandChanged: "the command changed"
        case .shellChanged: "the shell changed"
        case .directoryChanged: "the directory changed"
        case .variableChanged(let name): "the variable \(name) changed"
        case .inputChanged(let path): "the input \(path) changed"
        case .inputAdded(let path): "the input \(path) is new"
        case .inputDeleted(let path): "the input \(path) is gone"
        case .inputUncertain(let path): "the input \(path) may have changed while the command ran"
        case .inputUnreadable(let path): "the input \(path) cannot be read"
        case .outputMissing(let path): "the output \(path) is missing"
        case .outputAdded(let path): "the output \(path) is new"
        case .outputChanged(let path): "the output \(path) was changed"
        case .notCaptured: "its captured output is not recorded"
        case .earlierRan(let name): "\(name) ran"
        }
    }
}
