import Glibc
import Operations
import Synchronization
import WorkflowEngine

/// A printer for the events of a run. The line and the output of an operation are printed together. On a terminal, the last
/// lines show the progress.
final class RunPrinter: Sendable {
    /// The report that produces the texts.
    let report: RunReport
    private let screen: Mutex<Screen>
    private let notes = OperationQueue()
    private let fold: Mutex<SuccessFold?>
    private let held = Mutex(Held())
    /// The lines of running commands, by their names.
    private let streams = Mutex<[String: OutputLines]>([:])
    private let isJSON: Bool
    private let streamsOutput: Bool

    /// The events that wait while a command owns the terminal.
    private struct Held {
        var isOn = false
        var events: [RunEvent] = []
    }

    /// Creates a printer for a report.
    ///
    /// - Parameters:
    ///   - fold: The decisions about lines of successes. `nil` if each has a line of its own.
    ///   - secrets: The values that are masked in all lines.
    ///   - isJSON: Whether each event is a line of JSON.
    ///   - streamsOutput: Whether the output of commands is printed while they run.
    init(
        report: RunReport, fold: SuccessFold? = nil, secrets: Secrets = .none, isJSON: Bool = false,
        streamsOutput: Bool = false
    ) {
        (self.isJSON, self.streamsOutput) = (isJSON, streamsOutput)
        self.report = report
        screen = Mutex(Screen(secrets))
        self.fold = Mutex(fold)
    }

    /// Prints an event.
    ///
    /// - Returns: Whether standard output still accepts data.
    func print(_ event: RunEvent) -> Bool {
        let isHeld = held.withLock { held in
            if held.isOn { held.events.append(event) }
            return held.isOn
        }
        return isHeld || printNow(event)
    }

    private func printNow(_ event: RunEvent) -> Bool {
        if isJSON { return printJSON(event) }
        let folded = fold(event)
        return onScreen { screen in
            switch event {
            case .started(let operation):
                return screen.put(line: report.line(forStartOf: operation))
            case .ended(let conclusion, let spool):
                let (showsOwn, family) = folded
                if let spool, streamsOutput {
                    let rest = lines(of: spool, conclusion.name, isAtEnd: true)
                    guard screen.put(rest, of: conclusion.name) else { return false }
                }
                guard !showsOwn || screen.put(line: report.line(for: conclusion)) else { return false }
                if let spool, report.showsOutput(of: conclusion), !streamsOutput, !screen.put(spool) { return false }
                return screen.put(line: family)
            case .output(let operation, let spool):
                return screen.put(lines(of: spool, operation.name, isAtEnd: false), of: operation.name)
            case .explained(let operation, let reason):
                return screen.put(line: "\(operation.name.visible): \(reason.visible)")
            case .expanded, .familyEnded: return true
            case .retrying(let operation, let text):
                return screen.put(line: "\(operation.name.visible)  \(text.visible)")
            case .short(let text):
                screen.put(note: "opq: waiting: \(text)")
                return true
            }
        }
    }

    /// Returns whether an operation that ended has a line of its own, and the line of its family.
    private func fold(_ event: RunEvent) -> (showsOwn: Bool, family: String?) {
        fold.withLock { fold in
            switch event {
            case .started(let operation): fold?.started(operation.name, at: .now)
            case .ended(let conclusion, let spool):
                let hasOutput =
                    spool.map { !$0.isEmpty && report.showsOutput(of: conclusion) && !streamsOutput } ?? false
                switch fold?.ended(conclusion, hasOutput: hasOutput, at: .now) ?? .own {
                case .own: break
                case .none: return (false, nil)
                case .familyEnds(let name, let successes, let time, let showsOwn):
                    return (showsOwn, report.line(forFamily: name, successes: successes, time: time))
                }
            case .expanded(_, let members): fold?.expanded(into: members)
            case .short, .explained, .retrying, .output, .familyEnded: break
            }
            return (true, nil)
        }
    }

    /// Prints a line about the run on standard error.
    func announce(_ text: String) {
        _ = onScreen { screen in
            screen.put(note: "opq: \(text.visible)")
            return true
        }
    }

    private func printJSON(_ event: RunEvent) -> Bool {
        switch event {
        case .output(let operation, let spool):
            return printJSON(lines(of: spool, operation.name, isAtEnd: false), of: operation.name)
        case .ended(let conclusion, let spool?) where streamsOutput:
            let rest = lines(of: spool, conclusion.name, isAtEnd: true)
            guard printJSON(rest, of: conclusion.name) else { return false }
        default: break
        }
        return print(JSONEvents.line(for: event))
    }

    private func printJSON(_ lines: [[UInt8]], of name: String) -> Bool {
        guard !lines.isEmpty else { return true }
        let text = lines.map { String(decoding: $0, as: UTF8.self) + "\n" }.joined()
        return print(JSONEvents.line(forOutput: text, of: name))
    }

    /// Returns the lines that a command has written since the last call.
    private func lines(of spool: OutputSpool, _ name: String, isAtEnd: Bool) -> [[UInt8]] {
        var lines = streams.withLock { $0[name] ?? OutputLines() }
        let found = (try? lines.take(from: spool, isAtEnd: isAtEnd)) ?? []
        // A command that runs again has a new spool.
        streams.withLock { $0[name] = isAtEnd ? nil : lines }
        return found
    }

    // MARK: - The terminal

    /// Prints the name of an operation that gets the terminal, and holds all other events back.
    func beginTerminal(_ operation: PlannedOperation) {
        guard !isJSON else { return }
        held.withLock { $0.isOn = true }
        _ = screen.withLock { screen in screen.handOver(report.line(forTerminalOf: operation)) }
    }

    /// Prints the events that were held back.
    func endTerminal() {
        screen.withLock { $0.takeBack() }
        while true {
            let events = held.withLock { held in
                defer { held.events = [] }
                if held.events.isEmpty { held.isOn = false }
                return held.events
            }
            if events.isEmpty { return }
            for event in events { _ = printNow(event) }
        }
    }

    /// Announces that a signal cancels the run.
    ///
    /// The method does not block, because a write to a stopped terminal may hold the lock of the screen.
    func announceCancellation() {
        notes.addOperation {
            _ = self.onScreen { screen in
                screen.put(note: "opq: stopping; a second signal ends the commands at once")
                return true
            }
        }
    }

    /// Prints a line unless `line` is `nil`. Returns whether standard output still accepts data.
    func print(_ line: String?) -> Bool { onScreen { $0.put(line: line) } }

    /// The error number of the first failed write to standard output. `nil` if no write failed.
    var failure: Int32? { screen.withLock(\.failure) }

    /// Replaces the lines at the bottom of the terminal. An empty list removes them.
    func show(_ lines: [String]) {
        _ = screen.withLock { screen in
            screen.show(lines)
            return true
        }
    }

    /// Forgets the lines at the bottom, because another program has written to the terminal.
    func forget() { screen.withLock { $0.forget() } }

    /// Calls `body` with the screen under a lock, and restores the lines at the bottom afterwards.
    private func onScreen(_ body: (inout Screen) -> Bool) -> Bool {
        screen.withLock { screen in
            defer { screen.restore() }
            return body(&screen)
        }
    }
}

/// The standard output with lines at the bottom that are drawn again after each text.
private struct Screen {
    private(set) var failure: Int32?
    private var lines: [String] = []
    private var region = TerminalRegion()
    private var isErased = true
    /// Whether a command owns the terminal.
    private var isHandedOver = false
    private let secrets: Secrets

    init(_ secrets: Secrets) { self.secrets = secrets }

    mutating func show(_ new: [String]) {
        if isHandedOver { return }
        let new = new.map { secrets.masked($0) }
        guard new != lines || isErased, !(new.isEmpty && lines.isEmpty) else { return }
        lines = new
        isErased = false
        write(region.draw(new, columns: Display.size.columns))
    }

    /// Prints a line, and draws nothing until ``takeBack()``.
    mutating func handOver(_ line: String?) -> Bool {
        let isPrinted = put(line: line)
        clear()
        lines = []
        isHandedOver = true
        return isPrinted
    }

    mutating func takeBack() {
        isHandedOver = false
        region.forget()
    }

    /// Prints lines of the output of a running command.
    mutating func put(_ output: [[UInt8]], of name: String) -> Bool {
        guard !output.isEmpty else { return true }
        let prefix = Array("\(secrets.masked(name.visible)) | ".utf8)
        clear()
        let bytes = output.flatMap { prefix + $0 + [UInt8(ascii: "\n")] }
        return take(bytes.withUnsafeBytes { writeAll($0, to: STDOUT_FILENO) })
    }

    mutating func forget() {
        region.forget()
        lines = []
    }

    mutating func clear() {
        guard !isErased, !lines.isEmpty else { return }
        isErased = true
        write(region.erase(columns: Display.size.columns))
    }

    mutating func restore() {
        if isErased, !lines.isEmpty { show(lines) }
    }

    /// Prints a line on standard error, above the lines at the bottom.
    mutating func put(note: String) {
        clear()
        Swift.print(note, to: &standardError)
    }

    mutating func put(line: String?) -> Bool { line.map { put(secrets.masked($0) + "\n") } ?? true }

    mutating func put(_ spool: OutputSpool) -> Bool {
        clear()
        var last = UInt8(ascii: "\n")
        var isTaken = true
        do {
            try spool.read { chunk in
                guard isTaken else { return }
                isTaken = take(writeAll(chunk, to: STDOUT_FILENO))
                last = chunk.last ?? last
            }
        } catch {
            return put(line: "opq: the output is lost: \(error)")
        }
        // The next line must start in the first column.
        return isTaken && (last == UInt8(ascii: "\n") || put(line: ""))
    }

    private mutating func put(_ text: String) -> Bool {
        clear()
        return write(text)
    }

    @discardableResult
    private mutating func write(_ text: String) -> Bool {
        var text = text
        return take(text.withUTF8 { writeAll(UnsafeRawBufferPointer($0), to: STDOUT_FILENO) })
    }

    /// Stores the error number of the first failed write.
    private mutating func take(_ isWritten: Bool) -> Bool {
        if !isWritten { failure = failure ?? errno }
        return isWritten
    }
}
