/// The end of a command as the script of its job has recorded it.
struct SlurmResult: Equatable, Sendable {
    let end: CommandEnd
    let duration: Duration

    init(end: CommandEnd, duration: Duration) { (self.end, self.duration) = (end, duration) }

    /// Reads the line of a result file: a kind, the status of the shell, and the seconds since 1970 at the start and at the end.
    /// `nil` for another text.
    init?(_ text: String) {
        let fields = text.split(whereSeparator: \.isWhitespace)
        guard fields.count == 4, let status = Int32(fields[1]) else { return nil }
        switch fields[0] {
        case "end": end = CommandEnd(end: Self.end(ofStatus: status), hasTimedOut: false)
        case "late": end = CommandEnd(end: Self.end(ofStatus: status), hasTimedOut: true)
        case "directory":
            end = CommandEnd(end: .unknown("the node cannot enter the directory"), hasTimedOut: false)
        case "output":
            end = CommandEnd(end: .unknown("the node cannot write the output"), hasTimedOut: false)
        default: return nil
        }
        let seconds = max((Self.seconds(fields[3]) ?? 0) - (Self.seconds(fields[2]) ?? 0), 0)
        duration = .nanoseconds(Int64(seconds * 1e9))
    }

    /// A shell returns 128 and the number of the signal for a command that a signal ended. A command that exits with such a status
    /// itself is taken for one.
    private static func end(ofStatus status: Int32) -> ProcessEnd {
        (129...192).contains(status) ? .signal(status - 128) : .exit(status)
    }

    /// Some versions of `date` have no fractions of seconds.
    private static func seconds(_ text: Substring) -> Double? { Double(text.prefix { $0.isNumber || $0 == "." }) }
}
