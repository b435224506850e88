/// Frames of a stream of server-sent events.
package enum EventFrames {
    /// The beginning of a stream: the time after which a browser connects again, in milliseconds.
    package static let beginning = Array("retry: 1000\n\n".utf8)

    /// One event. JSON has no line feed, so the data is one line.
    package static func frame(_ name: String, _ value: JSON) -> [UInt8] {
        Array("event: \(name)\ndata: ".utf8) + value.bytes + Array("\n\n".utf8)
    }
}

/// The limits of a connection, and the decision when it ends.
package struct ConnectionLimits: Sendable {
    package static let connections = 128
    /// Seconds in which a request must arrive, and in which a response must make progress.
    package static let patience = 10.0

    /// The state of a connection at one moment.
    package struct Moment: Sendable {
        /// Seconds since the connection was accepted, or since its last complete request or progress.
        package var idle: Double
        package var isStream: Bool
        package var hasOutput: Bool
        /// Whether a response is being made.
        package var awaitsResponse: Bool
        package var isPermitted: Bool

        package init(idle: Double, isStream: Bool, hasOutput: Bool, awaitsResponse: Bool, isPermitted: Bool) {
            (self.idle, self.isStream, self.hasOutput) = (idle, isStream, hasOutput)
            (self.awaitsResponse, self.isPermitted) = (awaitsResponse, isPermitted)
        }
    }

    /// Whether the connection has ended by its limits.
    package static func isOver(_ moment: Moment) -> Bool {
        if moment.awaitsResponse { return false }
        if moment.isStream, !moment.hasOutput { return false }
        return moment.idle > patience
    }

    /// The index of the connection that makes place for a new one: of those without the token, the one that was idle for the longest
    /// time; otherwise of all others. nil if all are streams of permitted browsers.
    package static func victim(_ moments: [Moment]) -> Int? {
        let foreign = moments.indices.filter { !moments[$0].isPermitted }
        let own = moments.indices.filter { !moments[$0].isStream && !moments[$0].awaitsResponse }
        return (foreign.isEmpty ? own : foreign).max { moments[$0].idle < moments[$1].idle }
    }
}
