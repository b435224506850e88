import Testing

@testable import WorkflowEngine

struct ProcessLifeTests {
    private let start = ContinuousClock.now
    private let grace = Duration.seconds(2)

    @Test func `a command without remaining processes finishes at once`() {
        var life = ProcessLife(grace: grace)
        #expect(life.nextInstant == nil)
        #expect(life.leaderEnded(at: start) == [.endGroup, .reap, .look])
        life.reaped(.exit(0))
        #expect(life.looked(isAlive: false, at: start) == [.finish])
        #expect(life.end == .exit(0))
        #expect(!life.isStopped && !life.hasTimedOut)
    }

    @Test func `remaining processes are asked to end, checked, and killed after the grace`() {
        var life = ProcessLife(grace: grace)
        _ = life.leaderEnded(at: start)
        var now = start
        var looks = 0
        var actions = life.looked(isAlive: true, at: now)
        while actions.isEmpty {
            now = life.nextInstant ?? now + .seconds(100)
            #expect(life.timePassed(at: now) == .look)
            actions = life.looked(isAlive: true, at: now)
            looks += 1
        }
        #expect(actions == [.kill, .finish])
        #expect(now == start + grace)
        #expect(looks < 200)
    }

    @Test func `a cancelled command is asked to end once, and killed after the grace`() {
        var life = ProcessLife(grace: grace)
        #expect(life.stop(by: 2, at: start) == .signal(2))
        #expect(life.stop(by: 2, at: start + .seconds(1)) == nil)
        #expect(life.nextInstant == start + grace)
        #expect(life.timePassed(at: start + .seconds(1)) == nil)
        #expect(life.timePassed(at: start + grace) == .kill)
        // The command was killed, so no further deadline is needed before its end.
        #expect(life.nextInstant == nil)
        #expect(life.timePassed(at: start + .seconds(9)) == nil)
        _ = life.leaderEnded(at: start + grace)
        #expect(life.looked(isAlive: true, at: start + grace) == [.kill, .finish])
    }

    @Test func `remaining processes of a cancelled command share its grace`() {
        var life = ProcessLife(grace: grace)
        _ = life.stop(by: 2, at: start)
        _ = life.leaderEnded(at: start + .seconds(1))
        #expect(life.looked(isAlive: true, at: start + .milliseconds(1999)) == [])
        #expect(life.nextInstant == start + .seconds(2))
        #expect(life.looked(isAlive: true, at: start + .seconds(2)) == [.kill, .finish])
    }

    @Test func `a kill takes effect without waiting`() {
        var life = ProcessLife(grace: grace)
        #expect(life.kill(at: start) == .kill)
        #expect(life.stop(by: 2, at: start) == nil)
        _ = life.leaderEnded(at: start)
        #expect(life.looked(isAlive: true, at: start) == [.kill, .finish])

        var leaving = ProcessLife(grace: grace)
        _ = leaving.leaderEnded(at: start)
        _ = leaving.looked(isAlive: true, at: start)
        #expect(leaving.kill(at: start) == .kill)
        #expect(leaving.timePassed(at: start) == .look)
        #expect(leaving.looked(isAlive: true, at: start) == [.kill, .finish])
    }

    @Test func `a time limit ends the command, and gives it the grace`() {
        var life = ProcessLife(grace: grace, limit: start + .seconds(5))
        #expect(life.nextInstant == start + .seconds(5))
        #expect(life.timePassed(at: start + .seconds(4)) == nil)
        #expect(life.timePassed(at: start + .seconds(5)) == .signal(15))
        #expect(life.hasTimedOut && life.isStopped)
        #expect(life.nextInstant == start + .seconds(7))
        #expect(life.timePassed(at: start + .seconds(7)) == .kill)
    }

    @Test func `a command that was asked to end does not time out`() {
        var life = ProcessLife(grace: grace, limit: start + .seconds(1))
        _ = life.stop(by: 2, at: start)
        #expect(life.nextInstant == start + grace)
        #expect(life.timePassed(at: start + grace) == .kill)
        #expect(!life.hasTimedOut)
    }

    @Test func `a deadline does not pass while the process is stopped`() {
        var time = RunningTime()
        var life = ProcessLife(grace: grace)
        _ = life.stop(by: 2, at: time.time(at: start))
        time.stop(at: start + .seconds(1))
        #expect(time.time(at: start + .seconds(100)) == start + .seconds(1))
        #expect(life.timePassed(at: time.time(at: start + .seconds(100))) == nil)
        time.resume(at: start + .seconds(100))
        #expect(life.timePassed(at: time.time(at: start + .milliseconds(100_999))) == nil)
        #expect(life.timePassed(at: time.time(at: start + .seconds(101))) == .kill)
    }

    @Test func `a wait counts as a stop only if it is far too long`() {
        var time = RunningTime()
        time.read(at: start)
        #expect(time.read(at: start + .seconds(50), afterWaitOf: .seconds(2)) == start + .seconds(2))
        #expect(time.read(at: start + .seconds(51), afterWaitOf: .milliseconds(20)) == start + .seconds(3))
        // A wait during a known stop does not count twice.
        time.stop(at: start + .seconds(51))
        time.read(at: start + .seconds(80))
        time.resume(at: start + .seconds(81))
        #expect(time.time(at: start + .seconds(81)) == start + .seconds(3))
    }

    @Test func `a stop between two waits does not use up a deadline`() {
        var time = RunningTime()
        var life = ProcessLife(grace: grace)
        _ = life.stop(by: 2, at: time.read(at: start))
        let afterStop = time.read(at: start + .seconds(100))
        #expect(life.timePassed(at: afterStop) == nil)
        #expect(life.timePassed(at: time.read(at: start + .seconds(101), afterWaitOf: .seconds(1))) == nil)
        #expect(life.timePassed(at: time.read(at: start + .seconds(102), afterWaitOf: .seconds(1))) == .kill)
    }

    @Test(arguments: [
        (1024, 5, 337), (64, 5, 17), (32, 5, 6), (16, 5, 1), (15, 5, 0), (5, 5, 0), (20_000, 20_100, 0),
    ])
    func `descriptors limit the number of commands`(limit: Int, open: Int, commands: Int) {
        #expect(DescriptorBudget(limit: limit, open: open).commands == commands)
    }

    @Test(
        arguments: [
            (24, "no file descriptor is left (ulimit -n is "), (23, "the system has no open file left"),
            (11, "no process is left (ulimit -u is "), (12, "no memory is left"), (28, "no space is left in '/x'"),
            (122, "no space is left in '/x'"),
        ] as [(Int32, String)])
    func `a shortage has a description`(error: Int32, text: String) throws {
        #expect(try #require(Shortage(error, directory: "/x")).text.hasPrefix(text))
        #expect(Shortage(2, directory: "/x") == nil)
    }
}
