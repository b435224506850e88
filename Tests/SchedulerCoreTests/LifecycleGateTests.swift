import SchedulerCore
import Testing

/// The transitions of gated operations, which a worker claims first and admits later.
@Suite struct LifecycleGateTests {
    private static let choices: [Lifecycle.Flags] = [.cancelled, .ready, .askAgain, .finishAnnounced, .cancelPromised]

    /// A gated operation in this phase, with every set of the flags that decide, and with and without a dependency.
    private func gatedWords(_ phase: Lifecycle.Phase, with flags: Lifecycle.Flags = []) -> [Lifecycle] {
        (0..<(1 << Self.choices.count)).flatMap { choice in
            ([0, 1] as [UInt32]).map { unfinished in
                var word = Lifecycle()
                word.phase = phase
                word.insert(flags.union(.gated))
                for index in Self.choices.indices where choice >> index & 1 == 1 { word.insert(Self.choices[index]) }
                word.unfinished = unfinished
                return word
            }
        }
    }

    private func changed(_ word: Lifecycle, _ change: (inout Lifecycle) -> Void) -> Lifecycle {
        var next = word
        change(&next)
        return next
    }

    @Test func `the claim of a gated operation is not its start`() {
        for word in gatedWords(.enqueued) {
            let mayStart = word.contains(.ready) && !word.awaitsPromisedCancel
            let expected = changed(word) {
                $0.phase = .starting
                $0.insert(.admitting)
            }
            #expect(word.claimed() == (mayStart ? expected : nil))
            #expect(word.claimed()?.hasStarted != true)
        }
    }

    @Test func `a dependency that ends during an admission makes the admitting thread evaluate the readiness again`() {
        for word in gatedWords(.starting, with: .admitting) where word.unfinished == 1 {
            let expected = changed(word) {
                $0.insert(.askAgain)
                $0.unfinished = 0
            }
            #expect(word.released(asksAlways: false) == .delegated(expected))
        }
    }

    @Test func `an operation is admitted unless a change came meanwhile`() {
        for word in gatedWords(.starting, with: .admitting) {
            let admitted = changed(word) { $0.remove(.admitting) }
            let isHeld = !word.contains(.ready) || word.contains(.cancelPromised)
            let expected: Lifecycle.Admission =
                if word.contains(.finishAnnounced) {
                    .finish(changed(admitted) { $0.remove([.finishAnnounced, .askAgain]) })
                } else if word.isCancelled {
                    .start(changed(admitted) { $0.remove(.askAgain) })
                } else if isHeld {
                    .putBack
                } else if word.contains(.askAgain) {
                    .askAgain(changed(word) { $0.remove(.askAgain) })
                } else {
                    .start(admitted)
                }
            #expect(word.admitted() == expected)
        }
    }

    @Test func `an operation that is declined waits again, without its old readiness`() {
        for word in gatedWords(.starting, with: .admitting) {
            let expected = changed(word) {
                $0.phase = .enqueued
                $0.remove([.admitting, .ready, .askAgain, .finishAnnounced])
            }
            #expect(word.declined() == expected)
        }
    }

    @Test func `a change, an end or a gate during the admission is stored for the admitting thread`() {
        for word in gatedWords(.starting, with: .admitting) {
            let askAgain = changed(word) { $0.insert(.askAgain) }
            #expect(word.reconsidered() == .delegated(askAgain))
            #expect(word.becameGated() == askAgain)
            #expect(word.finishing() == .delegated(changed(word) { $0.insert(.finishAnnounced) }))
            #expect(word.heldByOneMore() != nil)
        }
    }

    @Test func `an operation becomes gated until it has started`() {
        for phase in Lifecycle.Phase.allCases {
            var word = Lifecycle()
            word.phase = phase
            let isEarly = phase.rawValue < Lifecycle.Phase.starting.rawValue
            #expect(word.becameGated() == (isEarly ? changed(word) { $0.insert(.gated) } : nil))
        }
    }

    @Test func `an operation releases its slot only while it executes, cancelled or not`() {
        for phase in Lifecycle.Phase.allCases {
            for word in gatedWords(phase) {
                let expected = changed(word) {
                    $0.phase = .enqueued
                    $0.insert(.hasBegun)
                    $0.remove([.ready, .askAgain])
                }
                #expect(word.stoodAside() == (phase == .executing ? expected : nil))
            }
        }
    }
}
