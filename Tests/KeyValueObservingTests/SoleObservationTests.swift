import TestSupport
import Testing

@testable @_spi(Hosting) import KeyValueObserving

/// The observation that is notified of the last change of a property by one call.
@Suite(.tags(.release)) struct SoleObservationTests {
    private static let tag: UInt16 = 8
    private static let key = PropertyKey.name("isFinished")

    private func observation(_ options: NSKeyValueObservingOptions = [], tag: UInt16 = Self.tag) -> Observation {
        HandlerObservation(PropertyDescription(Self.key, tag: tag), options) { _, _ in }
    }

    private func state(_ observations: Observation...) -> ObserverState {
        var state = ObserverState()
        for observation in observations { state.add(observation) }
        return state
    }

    private func sole(_ state: ObserverState) -> Observation? {
        state.soleObservation(ofTag: Self.tag)?.takeRetainedValue()
    }

    @Test func `the only observation of the property is notified by one call`() {
        let observation = observation()
        #expect(sole(state(observation)) === observation)
    }

    @Test(arguments: [.old, .new, .prior] as [NSKeyValueObservingOptions])
    func `an observation that takes values or a call before the change is notified as usual`(
        _ options: NSKeyValueObservingOptions
    ) {
        #expect(sole(state(observation(options))) == nil)
    }

    @Test func `an observation that has not begun holds the change back`() {
        let observation = observation(.initial)
        let state = state(observation)
        #expect(sole(state) == nil)
        #expect(observation.nextHeld() == nil)
        #expect(sole(state) === observation)
    }

    @Test func `an observation of another property is not notified`() {
        #expect(sole(state(observation(tag: 4))) == nil)
        #expect(sole(state(observation(tag: 0))) == nil)
    }

    @Test func `two observations are notified as usual, until one of them is removed`() {
        let (first, second) = (observation(), observation())
        var state = state(first, second)
        #expect(sole(state) == nil)
        state.remove(second)
        #expect(sole(state) === first)
        #expect(sole(ObserverState()) == nil)
    }

    @Test func `a change that another thread has announced is notified in turn`() {
        let observation = observation()
        var state = state(observation)
        var announcement = Announcement(of: [Self.key])
        state.willChange(&announcement)
        #expect(sole(state) == nil)
        state.endAnnouncement(Self.key)
        #expect(sole(state) === observation)
    }

    @Test func `the caller has the only additional reference to the observation`() {
        weak var weakly: Observation?
        do {
            let observation = observation()
            weakly = observation
            #expect(sole(state(observation)) != nil)
        }
        #expect(weakly == nil)
    }
}
