/// The place of a jobserver of GNU make, as `MAKEFLAGS` names it.
///
/// Source: "POSIX Jobserver" in the manual of GNU make 4.4. Make 4.2 and 4.3 have pipes only, and 4.0 and 4.1 call the option
/// `--jobserver-fds`.
enum JobserverAddress: Equatable, Sendable {
    /// Two inherited descriptors of a pipe, which make closes for a recipe that is not marked as a make.
    case pipe(reader: Int32, writer: Int32)
    case fifo(path: String)

    /// Finds the last address in the value of `MAKEFLAGS`. `nil` if there is none.
    init?(makeFlags: String) {
        var found: Self?
        for word in makeFlags.split(separator: " ") {
            // Definitions of variables follow.
            if word == "--" { break }
            guard let prefix = ["--jobserver-auth=", "--jobserver-fds="].first(where: { word.hasPrefix($0) }) else {
                continue
            }
            let value = word.dropFirst(prefix.count)
            if value.hasPrefix("fifo:") {
                found = .fifo(path: String(value.dropFirst(5)))
                continue
            }
            let parts = value.split(separator: ",", omittingEmptySubsequences: false).map { Int32($0) }
            // Make writes negative numbers for a jobserver that a recipe must not use.
            if parts.count == 2, let reader = parts[0], let writer = parts[1], reader >= 0, writer >= 0 {
                found = .pipe(reader: reader, writer: writer)
            } else {
                found = nil
            }
        }
        guard let found else { return nil }
        self = found
    }
}
