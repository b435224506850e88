import Glibc
import Testing

@testable import WorkflowEngine

struct SignalPolicyTests {
    private let start = ContinuousClock.now

    @Test func `the commands get the signal that this process got, then a kill, and then this process ends`() {
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            var policy = SignalPolicy()
            #expect(policy.first == nil)
            #expect(policy.receive(signal, at: start) == .cancel(by: signal))
            #expect(policy.receive(signal, at: start + .seconds(1)) == .kill)
            #expect(policy.receive(signal, at: start + .seconds(2)) == .end(by: signal))
            #expect(policy.first == signal)
        }
    }

    @Test func `a signal that means something else to programs ends them by SIGTERM`() {
        for signal in [SIGUSR1, SIGALRM, SIGXCPU] {
            var policy = SignalPolicy()
            #expect(SignalPolicy.signals.contains(signal))
            #expect(policy.receive(signal, at: start) == .cancel(by: SIGTERM))
            #expect(policy.first == signal)
        }
    }

    @Test func `two equal signals within 0_3 seconds are one`() {
        var policy = SignalPolicy()
        #expect(policy.receive(SIGTERM, at: start) == .cancel(by: SIGTERM))
        #expect(policy.receive(SIGTERM, at: start + .milliseconds(1)) == .ignore)
        #expect(policy.receive(SIGTERM, at: start + .milliseconds(299)) == .ignore)
        #expect(policy.receive(SIGTERM, at: start + .milliseconds(300)) == .kill)
    }

    @Test func `two different signals are two, at any time`() {
        var policy = SignalPolicy()
        #expect(policy.receive(SIGINT, at: start) == .cancel(by: SIGINT))
        #expect(policy.receive(SIGTERM, at: start + .milliseconds(1)) == .kill)
        #expect(policy.first == SIGINT)
    }

    @Test func `SIGQUIT kills, and Ctrl-Z stops and is no signal that ends the run`() {
        var policy = SignalPolicy()
        #expect(policy.receive(SIGTSTP, at: start) == .stop)
        #expect(policy.receive(SIGTSTP, at: start) == .stop)
        #expect(policy.first == nil)
        #expect(policy.receive(SIGQUIT, at: start) == .kill)
    }
}
