@testable import Operations
import Testing

/// Rule A2: observers are notified of each announcement of `isReady`, by one thread at a time.
@Suite struct ReadinessTellingTests {
    @Test func `the thread that notifies of one announcement also notifies of later ones that arrive meanwhile`() {
        var telling = ReadinessTelling()
        let begins = [telling.begin(onlyChanges: false), telling.begin(onlyChanges: false)]
        #expect(begins == [true, false])
        var (old, continues) = (telling.take(true), telling.continues())
        #expect(old == true && continues)
        (old, continues) = (telling.take(true), telling.continues())
        #expect(old == true && !continues)
        let beginsAgain = telling.begin(onlyChanges: false)
        #expect(beginsAgain)
    }

    @Test func `a change that was not announced notifies only if the value differs`() {
        var telling = ReadinessTelling()
        telling.note(false)
        for (value, told) in [(false, nil), (true, false), (true, nil)] as [(Bool, Bool?)] {
            let begins = telling.begin(onlyChanges: true)
            let (old, continues) = (telling.take(value), telling.continues())
            #expect(begins && old == told && !continues)
        }
    }
}
