@testable import OperationsNetworking
import TestSupport
import Testing

/// All states with all events (rule R2).
@Suite struct TransferStateTests {
    private enum Event: CaseIterable { case pause, resume, begin, stopped, finish }

    private struct Place: Hashable, CustomStringConvertible {
        var phase: String
        var isPauseWanted: Bool

        init(_ state: TransferState) { (phase, isPauseWanted) = ("\(state.phase)", state.isPauseWanted) }
        init(_ phase: String, wanted: Bool = false) { (self.phase, isPauseWanted) = (phase, wanted) }

        var description: String { phase + (isPauseWanted ? "!" : "") }
    }

    private static func apply(_ event: Event, to state: inout TransferState) -> String {
        switch event {
        case .pause: "\(state.pause())"
        case .resume: "\(state.resume())"
        case .begin: "\(state.begin())"
        case .stopped:
            {
                state.stopped(); return ""
            }()
        case .finish:
            {
                state.finish(); return ""
            }()
        }
    }

    /// The mark `!` means that a pause is requested.
    private static let expected: [String: [Event: String]] = [
        "ready": [.pause: "paused!", .resume: "ready", .begin: "executing", .stopped: "ready", .finish: "finished"],
        "executing": [
            .pause: "pausing!", .resume: "executing", .begin: "executing", .stopped: "ready", .finish: "finished",
        ],
        "pausing!": [
            .pause: "pausing!", .resume: "pausing", .begin: "pausing!", .stopped: "paused!", .finish: "finished!",
        ],
        "pausing": [
            .pause: "pausing!", .resume: "pausing", .begin: "executing", .stopped: "ready", .finish: "finished",
        ],
        "paused!": [.pause: "paused!", .resume: "ready", .begin: "paused!", .stopped: "paused!", .finish: "finished!"],
        "finished": [
            .pause: "finished", .resume: "finished", .begin: "finished", .stopped: "finished", .finish: "finished",
        ],
        "finished!": [
            .pause: "finished!", .resume: "finished!", .begin: "finished!", .stopped: "finished!", .finish: "finished!",
        ],
    ]

    @Test func `every event in every state leads to the expected state`() throws {
        var reached: [Place: TransferState] = [Place(TransferState()): TransferState()]
        var open = Array(reached.values)
        while let state = open.popLast() {
            let row = try #require(Self.expected["\(Place(state))"], "\(Place(state)) is in no table")
            for event in Event.allCases {
                var next = state
                _ = Self.apply(event, to: &next)
                #expect("\(Place(next))" == row[event], "\(Place(state)) and \(event)")
                if reached.updateValue(next, forKey: Place(next)) == nil { open.append(next) }
            }
        }
        #expect(Set(reached.keys.map { "\($0)" }) == Set(Self.expected.keys))
    }

    @Test func `a stop applies to one attempt`() {
        var state = TransferState()
        _ = state.begin()
        let first = state.pause()
        let again = state.pause()
        #expect(first == .stop(attempt: 1) && again == .noEffect)
        state.stopped()
        let beganPaused = state.begin()
        #expect(state.phase == .paused && !beganPaused)
        let isLetGo = state.resume()
        let begins = state.begin()
        let second = state.pause()
        #expect(isLetGo && begins && second == .stop(attempt: 2))
    }
}
