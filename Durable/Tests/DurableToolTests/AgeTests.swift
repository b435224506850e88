import DurableTool
import Testing

@Suite struct AgeTests {
    @Test(arguments: [
        ("90s", Duration.seconds(90)), ("15m", .seconds(900)), ("1h30m", .seconds(5_400)), ("2d", .seconds(172_800)),
        ("1w", .seconds(604_800)), ("500ms", .milliseconds(500)), ("1.5h", .seconds(5_400)), ("0s", .zero),
        ("1h0.5s", .milliseconds(3_600_500)),
    ])
    func `R36: an age is a list of numbers with units`(_ text: String, _ duration: Duration) {
        #expect(Age.duration(text) == duration)
    }

    @Test(arguments: [
        "", "1", "h", "-1h", "1m2h", "1h1h", "1 h", "1x", "1e3s", "１h", "1h ", ".5h", "1..5h", "nan",
        "99999999999999999w", "+1h",
    ])
    func `R36: other texts are no age`(_ text: String) { #expect(Age.duration(text) == nil) }

    @Test(arguments: [
        (Duration.milliseconds(-5), "0ms"), (.milliseconds(999), "999ms"), (.seconds(59), "59s"), (.seconds(60), "1m"),
        (.seconds(125), "2m 5s"), (.seconds(3_600), "1h"), (.seconds(7_500), "2h 5m"), (.seconds(90_000), "1d 1h"),
        (.seconds(8 * 86_400), "1w 1d"),
    ])
    func `R36: a duration has its two largest units`(_ duration: Duration, _ text: String) {
        #expect(Age.text(duration) == text)
    }

    @Test func `R36: durations at the ends of their range have a text`() {
        #expect(!Age.text(.seconds(Int64.max)).isEmpty && Age.text(.seconds(Int64.min)) == "0ms")
    }
}
