@testable import Operations
import Testing

/// Rule A2: observers are notified of each announcement of `isReady`, by one thread at a time.
@Suite struct ReadinessNotifierTests {
    @Test func `the thread that notifies of one announcement also notifies of later ones that arrive meanwhile`() {
        var notifying = ReadinessNotifier()
        let begins = [notifying.begin(onlyChanges: false), notifying.begin(onlyChanges: false)]
        #expect(begins == [true, false])
        var (old, continues) = (notifying.take(true), notifying.continues())
        #expect(old == true && continues)
        (old, continues) = (notifying.take(true), notifying.continues())
        #expect(old == true && !continues)
        let beginsAgain = notifying.begin(onlyChanges: false)
        #expect(beginsAgain)
    }

    @Test func `a change that was not announced notifies only if the value differs`() {
        var notifying = ReadinessNotifier()
        notifying.note(false)
        for (value, notified) in [(false, nil), (true, false), (true, nil)] as [(Bool, Bool?)] {
            let begins = notifying.begin(onlyChanges: true)
            let (old, continues) = (notifying.take(value), notifying.continues())
            #expect(begins && old == notified && !continues)
        }
    }
}
