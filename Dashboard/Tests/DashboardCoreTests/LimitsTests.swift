import Testing

@testable import DashboardCore

@Suite struct RecordingBudgetTests {
    @Test func `a burst ends the recording, and a slow queue never does`() {
        var budget = RecordingBudget(burst: 10, rate: 10, now: 0)
        #expect((0..<10).allSatisfy { _ in budget.spend(now: 0) } && !budget.spend(now: 0))
        var slow = RecordingBudget(burst: 10, rate: 10, now: 0)
        #expect((1...1000).allSatisfy { slow.spend(now: Double($0) * 0.11) })
    }

    @Test func `a recording begins again when its events would fit twice`() {
        let budget = RecordingBudget(burst: 10, rate: 800, now: 0)
        #expect(budget.mayBegin(startsPerSecond: 99) && !budget.mayBegin(startsPerSecond: 100))
    }
}

@Suite struct SurveyPaceTests {
    @Test func `looks take at most a twentieth of the time`() {
        #expect(SurveyPace.pause(afterCost: 0.001) == 0.5 && SurveyPace.pause(afterCost: 0.2) == 4)
    }

    @Test func `a rate is that of the span`() {
        var window = RateWindow(span: 10)
        #expect(window.perSecond == nil)
        for second in 0...30 { window.note(second < 15 ? 0 : (second - 15) * 4, at: Double(second)) }
        #expect(window.perSecond == 4)
        var quick = RateWindow(span: 10)
        for second in 0...100 { quick.note(second * 2, at: Double(second)) }
        #expect(quick.perSecond == 2)
    }
}

@Suite struct EventFramesTests {
    @Test func `a frame is one line of data`() {
        let text = String(decoding: EventFrames.frame("state", .text("a\nb\r")), as: UTF8.self)
        #expect(text == "event: state\ndata: \"a\\u000ab\\u000d\"\n\n")
    }

    private func moment(
        _ idle: Double, stream: Bool = false, output: Bool = false, awaits: Bool = false, permitted: Bool = true
    ) -> ConnectionLimits.Moment {
        .init(idle: idle, isStream: stream, hasOutput: output, awaitsResponse: awaits, isPermitted: permitted)
    }

    @Test func `a connection ends without progress, but not while it waits for the server`() {
        #expect(ConnectionLimits.isOver(moment(11)) && !ConnectionLimits.isOver(moment(9)))
        #expect(
            !ConnectionLimits.isOver(moment(1000, stream: true)) && !ConnectionLimits.isOver(moment(1000, awaits: true))
        )
        #expect(ConnectionLimits.isOver(moment(11, stream: true, output: true)))
    }

    @Test func `a connection without the token makes place first, and a page last`() {
        let moments = [moment(5), moment(1, permitted: false), moment(3, permitted: false), moment(9, stream: true)]
        #expect(ConnectionLimits.victim(moments) == 2)
        #expect(ConnectionLimits.victim([moments[0], moments[3]]) == 0)
        #expect(ConnectionLimits.victim([moments[3]]) == nil)
    }
}
