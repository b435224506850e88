@testable import Operations
import TestSupport
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

    @Test func `a value is recorded only if no other value was recorded since it was read`() {
        var notifier = ReadinessNotifier()
        let count = notifier.noted
        notifier.note(false)
        let isRecorded = notifier.note(true, since: count)
        #expect(!isRecorded)
        let isRecordedAgain = notifier.note(true, since: notifier.noted)
        #expect(isRecordedAgain)
        let begins = notifier.begin(onlyChanges: true)
        let old = notifier.take(false)
        #expect(begins && old == true)
    }

    @Test(arguments: 0..<20 as Range<UInt64>) func `the notifier in one word behaves like a naive one`(
        seed: UInt64
    ) {
        var random = SeededRandom(seed: seed)
        var (notifier, naive) = (ReadinessNotifier(), NaiveNotifier())
        for _ in 0..<2_000 {
            let isReady = random.chance(50)
            switch random.below(6) {
            case 0, 1:
                let (actual, expected) = (notifier.begin(onlyChanges: isReady), naive.begin(onlyChanges: isReady))
                #expect(actual == expected)
            case 2, 3:
                let (actual, expected) = (notifier.take(isReady), naive.take(isReady))
                #expect(actual == expected)
            case 4:
                notifier.note(isReady)
                naive.notified = isReady
            default:
                let (actual, expected) = (notifier.continues(), naive.continues())
                #expect(actual == expected)
            }
        }
    }
}

private struct NaiveNotifier {
    var notified: Bool?
    var isNotifying = false
    var mustRead = false
    var announcements = 0

    mutating func begin(onlyChanges: Bool) -> Bool {
        let begins = !isNotifying
        if onlyChanges { mustRead = true } else { announcements += 1 }
        isNotifying = true
        return begins
    }

    mutating func take(_ isReady: Bool) -> Bool? {
        let (wasAnnounced, old) = (announcements > 0, notified)
        announcements = max(0, announcements - 1)
        mustRead = false
        notified = isReady
        return wasAnnounced || old != isReady ? old ?? isReady : nil
    }

    mutating func continues() -> Bool {
        isNotifying = announcements > 0 || mustRead
        return isNotifying
    }
}
