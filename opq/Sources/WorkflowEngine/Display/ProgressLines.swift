/// The form of a terminal.
public struct TerminalForm: Equatable, Sendable {
    public var columns: Int
    public var rows: Int
    /// Whether only characters of ASCII are drawn.
    public var isASCII: Bool
    public var isColoured: Bool

    /// Creates the form of a terminal.
    public init(columns: Int = 80, rows: Int = 24, isASCII: Bool = false, isColoured: Bool = false) {
        (self.columns, self.rows) = (columns, rows)
        (self.isASCII, self.isColoured) = (isASCII, isColoured)
    }
}

extension RunProgress {
    /// The largest number of lines.
    private static let mostLines = 9

    /// Returns the lines at the bottom of a terminal: the running operations, some that wait, and a bar.
    ///
    /// No line has as many columns as the terminal. A cursor after the last column behaves differently in each terminal.
    public mutating func lines(at now: Instant, on form: TerminalForm) -> [String] {
        let budget = max(1, min(Self.mostLines, form.rows / 3))
        let width = max(form.columns - 1, 1)
        let waiting = budget < 4 ? [] : waiting(atMost: 2)
        let room = budget - 1 - waiting.count
        let shown = running.count <= room ? running.count : max(room - 1, 0)
        var lines = running.prefix(shown).map { line(forRunning: $0, at: now, width: width, form) }
        if running.count > shown, room > 0 {
            lines.append("  and \(running.count - shown) more".cut(to: width, form))
        }
        for (name, reason) in waiting {
            lines.append("  \(name.visible) \(reason)".cut(to: width, form).coloured(2, form))
        }
        lines.append(bar(at: now, width: width, form))
        return lines
    }

    private func line(forRunning index: Int, at now: Instant, width: Int, _ form: TerminalForm) -> String {
        guard case .running(let since) = states[index] else { return "" }
        var time = "  " + (now - since).clock
        if let usual = usualDuration(of: index), usual >= .seconds(1) { time += " of about \(usual.clock)" }
        if let members = members[index] { time = "  \(members.ended)/\(members.count)" + time }
        let name = "  " + plan.operations[index].name.visible
        return (name.cut(to: max(width - time.columnCount, 3), form) + time).cut(to: width, form)
    }

    private mutating func bar(at now: Instant, width: Int, _ form: TerminalForm) -> String {
        var text = " \(endedCount)/\(plan.operations.count)"
        var failed = ""
        if failedCount > 0 { failed = "  \(failedCount) failed" }
        if let left = left(at: now), left >= .seconds(1) { text += "  about \(left.clock) left" }
        let length = min(width - text.count - failed.count - 2, 30)
        if length < 5 { return (text.dropFirst() + failed).description.cut(to: width, form) }
        let full = plan.operations.isEmpty ? length : length * endedCount / plan.operations.count
        let drawn =
            String(repeating: form.isASCII ? "#" : "█", count: full)
            + String(repeating: form.isASCII ? "." : "░", count: length - full)
        return "[\(drawn)]" + text + failed.coloured(31, form)
    }
}

extension String {
    /// Returns the text, or its beginning with a mark, so that it takes at most a number of columns.
    fileprivate func cut(to columns: Int, _ form: TerminalForm) -> String {
        if columnCount <= columns { return self }
        let mark = form.isASCII ? "..." : "…"
        return columns <= mark.count ? prefix(columns: columns) : prefix(columns: columns - mark.count) + mark
    }

    fileprivate func coloured(_ colour: Int, _ form: TerminalForm) -> String {
        form.isColoured && !isEmpty ? "\u{1B}[\(colour)m\(self)\u{1B}[0m" : self
    }
}

extension Duration {
    /// The duration in whole seconds, as in `8s`, `1m05s` and `2h03m`.
    var clock: String {
        let seconds = components.seconds
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        if seconds < 60 { return "\(seconds)s" }
        if seconds < 3600 { return "\(seconds / 60)m\(two(seconds % 60))s" }
        return "\(seconds / 3600)h\(two(seconds / 60 % 60))m"
    }
}
