#if Networking
/// Where a transfer is when something happens to it.
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

/// What happens to it.
enum FaultKind: String, CaseIterable, Sendable {
    case cancel, pause, reset, truncation, stall
    case wrongLength = "wrong length"
    case wrongRange = "wrong range"
    case redirectLoop = "redirect loop"
    case challengeLoop = "challenge loop"
    case bomb
    case diskFull = "disk full"
}

/// What is to come of it.
enum FaultOutcome: Sendable, Equatable {
    /// It ends with an error that has one of these reasons.
    case fails([String])
    /// It ends as if nothing had happened.
    case succeeds
    /// It cannot be, because of this.
    case cannotBe(String)

    private static let broken = FaultOutcome.fails(["connection", "truncated"])
    private static let noAnswer = FaultOutcome.cannotBe("there is no answer yet")
    private static let noConnection = FaultOutcome.cannotBe("there is no connection yet")
    private static let answered = FaultOutcome.cannotBe("the answer is there already")

    static func of(_ kind: FaultKind, in phase: FaultPhase) -> FaultOutcome {
        switch (kind, phase) {
        case (.cancel, _): .fails(["cancelled"])
        // Goes on when it is resumed; what is decoded has been transferred, and ends.
        case (.pause, _): .succeeds
        case (.reset, .queued), (.truncation, .queued): noConnection
        case (.truncation, .connecting): noConnection
        // It has no connection that could break, or has no more use for it.
        case (.reset, .decoding), (.truncation, .decoding): .succeeds
        case (.reset, .connecting): .fails(["connection"])
        case (.reset, _), (.truncation, _): broken
        // No time-out is for who waits for a slot, or for what is done here.
        case (.stall, .queued), (.stall, .decoding): .succeeds
        case (.stall, _): .fails(["timedOut"])
        // A file that is sent gets shorter meanwhile.
        case (.wrongLength, .sending): .fails(["connection", "cannotRead"])
        // Two lengths.
        case (.wrongLength, .head): broken
        case (.wrongLength, .memory), (.wrongLength, .download), (.wrongLength, .stream): .fails(["truncated"])
        // A part that nobody has asked for.
        case (.wrongRange, .head): .fails(["unacceptableStatus"])
        // Another part than was asked for: it starts over; what is read already cannot.
        case (.wrongRange, .memory), (.wrongRange, .download): .succeeds
        case (.wrongRange, .stream): .fails(["notContinued"])
        // What comes before the body has gone is an answer all the same.
        case (.redirectLoop, .sending), (.redirectLoop, .head), (.redirectLoop, .memory), (.redirectLoop, .download),
            (.redirectLoop, .stream):
            .fails(["redirectLoop"])
        case (.challengeLoop, .sending), (.challengeLoop, .head), (.challengeLoop, .memory),
            (.challengeLoop, .download), (.challengeLoop, .stream):
            .fails(["unacceptableStatus"])
        // A field without end.
        case (.bomb, .head): .fails(["connection"])
        case (.bomb, .memory), (.bomb, .download), (.bomb, .stream): .fails(["inflatesTooMuch"])
        // The file is opened before anything is asked, its note is written with the head.
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
#endif
