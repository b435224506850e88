import Testing

@testable import WorkflowEngine

struct SlurmResultTests {
    @Test func `a result has the end of the command and its running time`() {
        func result(_ text: String) -> SlurmResult? { SlurmResult(text) }
        #expect(
            result("end 3 100.250 102.750\n")
                == SlurmResult(end: CommandEnd(end: .exit(3), hasTimedOut: false), duration: .milliseconds(2500)))
        #expect(result("end 137 100 101")?.end == CommandEnd(end: .signal(9), hasTimedOut: false))
        #expect(result("end 128 100 101")?.end.end == .exit(128))
        #expect(result("late 143 100 101")?.end == CommandEnd(end: .signal(15), hasTimedOut: true))
        #expect(result("directory 1 100 101")?.end.end == .unknown("the node cannot enter the directory"))
        #expect(result("output 0 100 101")?.end.end == .unknown("the node cannot write the output"))
    }

    @Test func `a clock without fractions, and one that was set back, give no wrong time`() {
        #expect(SlurmResult("end 0 100.N 103.N")?.duration == .seconds(3))
        #expect(SlurmResult("end 0 100.5 90.5")?.duration == .zero)
    }

    @Test(arguments: ["", "end", "end x 1 2", "begin 0 1 2", "end 0 1"])
    func `another text is no result`(text: String) { #expect(SlurmResult(text) == nil) }
}
