/// The phase of a transfer in which a fault happens.
enum FaultPhase: String, CaseIterable, Sendable {
    case queued = "waiting in the queue"
    case connecting
    case handshake = "TLS handshake"
    case sending = "sending the body"
    case waiting = "waiting for the head"
    case head = "in the head"
    case memory = "body into memory"
    case download = "body into a file"
    case stream = "body as a stream"
    case decoding = "decoding, renaming"
}

/// A kind of fault.
enum FaultKind: String, CaseIterable, Sendable {
    case cancel, pause, reset, truncation, stall
    case wrongLength = "wrong length"
    case wrongRange = "wrong range"
    case redirectLoop = "redirect loop"
    case challengeLoop = "challenge loop"
    case bomb
    case diskFull = "disk full"
}

/// The expected outcome of a fault.
enum FaultOutcome: Sendable, Equatable {
    /// The operation ends with an error that has one of these reasons.
    case fails([String])
    /// The operation ends as if no fault had happened.
    case succeeds
    /// The fault is impossible in this phase, for this reason.
    case cannotBe(String)

    private static let broken = FaultOutcome.fails(["connection", "truncated"])
    private static let noAnswer = FaultOutcome.cannotBe("there is no response yet")
    private static let noConnection = FaultOutcome.cannotBe("there is no connection yet")
    private static let answered = FaultOutcome.cannotBe("the response is complete")

    static func of(_ kind: FaultKind, in phase: FaultPhase) -> FaultOutcome {
        switch (kind, phase) {
        case (.cancel, _): .fails(["cancelled"])
        // A resumed transfer continues. A body that is being decoded is complete, so the operation ends.
        case (.pause, _): .succeeds
        case (.reset, .queued), (.truncation, .queued): noConnection
        case (.truncation, .connecting): noConnection
        // The operation has no connection yet, or no longer needs its connection.
        case (.reset, .decoding), (.truncation, .decoding): .succeeds
        case (.reset, .connecting): .fails(["connection"])
        case (.reset, _), (.truncation, _): broken
        // No time limit applies to waiting for a slot or to decoding.
        case (.stall, .queued), (.stall, .decoding): .succeeds
        case (.stall, _): .fails(["timedOut"])
        // The file becomes shorter while it is being sent.
        case (.wrongLength, .sending): .fails(["connection", "cannotRead"])
        // A response with two different lengths.
        case (.wrongLength, .head): broken
        case (.wrongLength, .memory), (.wrongLength, .download), (.wrongLength, .stream): .fails(["truncated"])
        // A part that the request did not ask for.
        case (.wrongRange, .head): .fails(["unacceptableStatus"])
        // A part other than the requested one: the transfer starts over, except a stream.
        case (.wrongRange, .memory), (.wrongRange, .download): .succeeds
        case (.wrongRange, .stream): .fails(["resumeFailed"])
        // A response that arrives before the end of the request body is still a response.
        case (.redirectLoop, .sending), (.redirectLoop, .head), (.redirectLoop, .memory), (.redirectLoop, .download),
            (.redirectLoop, .stream):
            .fails(["redirectLoop"])
        case (.challengeLoop, .sending), (.challengeLoop, .head), (.challengeLoop, .memory),
            (.challengeLoop, .download), (.challengeLoop, .stream):
            .fails(["unacceptableStatus"])
        // A field without end.
        case (.bomb, .head): .fails(["connection"])
        case (.bomb, .memory), (.bomb, .download), (.bomb, .stream): .fails(["decompressionLimitExceeded"])
        // The file is opened before the request is sent, and its note is written with the head.
        case (.diskFull, .connecting), (.diskFull, .head), (.diskFull, .download), (.diskFull, .decoding):
            .fails(["noSpace"])
        case (.diskFull, _): .cannotBe("nothing is written")
        case (_, .decoding): answered
        case (_, .queued), (_, .connecting), (_, .handshake): noConnection
        case (_, .sending), (_, .waiting): noAnswer
        }
    }
}

struct FaultCell: Sendable, Hashable, CustomStringConvertible {
    let phase: FaultPhase
    let kind: FaultKind

    var expected: FaultOutcome { .of(kind, in: phase) }

    var description: String { "\(kind.rawValue), \(phase.rawValue)" }

    static let all = FaultPhase.allCases.flatMap { phase in
        FaultKind.allCases.map { FaultCell(phase: phase, kind: $0) }
    }
}
