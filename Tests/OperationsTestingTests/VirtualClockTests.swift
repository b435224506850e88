import Operations
import OperationsTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct VirtualClockTests {
    @Test func `sleepers that are due at the same time resume in the order of their deadlines`() {
        let (executor, clock, log) = (ManualExecutor(), VirtualClock(), Journal<Int>())
        for seconds in [3, 1, 2] {
            executor.task {
                try await clock.sleep(for: .seconds(seconds))
                log.append(seconds)
            }
        }
        executor.runUntilIdle()
        clock.advance(by: .seconds(5))
        executor.runUntilIdle()
        #expect(log.entries == [1, 2, 3])
    }

    @Test func `sleepers with the same deadline resume in the order in which they began to sleep`() {
        let (executor, clock, log) = (ManualExecutor(), VirtualClock(), Journal<Int>())
        for number in 0..<20 {
            executor.task {
                try await clock.sleep(for: .seconds(1))
                log.append(number)
            }
        }
        executor.runUntilIdle(advancing: clock)
        #expect(log.entries == Array(0..<20))
    }

    @Test func `a clock never goes back`() {
        let clock = VirtualClock()
        clock.advance(by: .seconds(5))
        clock.advance(to: .init(offset: .seconds(1)))
        #expect(clock.now.offset == .seconds(5))
    }

    @Test func `sleepers resume in the order of their deadlines, and virtual time needs no real time`() {
        let executor = ManualExecutor()
        let clock = VirtualClock()
        let log = Journal<String>()
        for hours in [3, 1, 2] {
            executor.task {
                try await clock.sleep(for: .seconds(hours * 3600))
                log.append("\(hours) at \(clock.now.offset.components.seconds)")
            }
        }
        executor.runUntilIdle()
        #expect(log.entries.isEmpty && clock.sleeperCount == 3 && clock.nextDeadline?.offset == .seconds(3600))
        executor.runUntilIdle(advancing: clock)
        #expect(log.entries == ["1 at 3600", "2 at 7200", "3 at 10800"])
        #expect(clock.sleeperCount == 0 && clock.now.offset == .seconds(10_800))
    }

    @Test func `the clock advances only when no step is ready`() {
        let executor = ManualExecutor(seed: 3)
        let clock = VirtualClock()
        let queue = executor.makeQueue()
        let latest = Guarded(Duration.zero)
        for _ in 0..<50 {
            queue.addTask {
                for _ in 0..<10 { await Task.yield() }
                latest.withLock { $0 = max($0, clock.now.offset) }
            }
        }
        queue.addTask { try await clock.sleep(for: .seconds(1)) }
        executor.runUntilIdle(advancing: clock)
        #expect(latest.withLock { $0 } == .zero && clock.now.offset == .seconds(1))
    }

    @Test func `a cancelled sleeper resumes at once, also if it was cancelled before it slept`() throws {
        let executor = ManualExecutor()
        let clock = VirtualClock()
        let outcomes = Journal<Bool>()
        let tasks = (0..<2).map { _ in
            executor.task {
                do { try await clock.sleep(for: .seconds(10)) } catch is CancellationError {
                    outcomes.append(true)
                }
            }
        }
        tasks[0].cancel()
        executor.runUntilIdle()
        tasks[1].cancel()
        executor.runUntilIdle()
        #expect(outcomes.entries == [true, true] && clock.sleeperCount == 0 && clock.now.offset == .zero)
    }

    @Test func `other tasks run while a task sleeps until instants that have passed`() {
        let (executor, clock, log) = (ManualExecutor(), VirtualClock(), Journal<String>())
        executor.task {
            for _ in 0..<3 {
                try await clock.sleep(for: .zero)
                log.append("a")
            }
        }
        executor.task { log.append("b") }
        executor.runUntilIdle()
        #expect(log.entries == ["b", "a", "a", "a"])
    }

    @Test func `a cancelled task does not sleep until an instant that has passed`() {
        let (executor, clock, outcomes) = (ManualExecutor(), VirtualClock(), Journal<Bool>())
        let tasks = (0..<2).map { _ in
            executor.task {
                do { try await clock.sleep(for: .zero) } catch is CancellationError { outcomes.append(true) }
            }
        }
        tasks[0].cancel()
        for _ in 0..<2 { executor.step() }
        tasks[1].cancel()
        executor.runUntilIdle()
        #expect(outcomes.entries == [true, true])
    }

    @Test func `tasks that wait for sleepers resume in the order of their calls`() {
        let (executor, clock, log) = (ManualExecutor(), VirtualClock(), Journal<Int>())
        for number in 0..<20 {
            executor.task {
                await clock.sleepers(atLeast: 1)
                log.append(number)
            }
        }
        executor.task { try await clock.sleep(for: .seconds(1)) }
        executor.runUntilIdle()
        #expect(log.entries == Array(0..<20))
        executor.runUntilIdle(advancing: clock)
    }

    @Test func `a run to an instant stops the process if the steps of an instant never end`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (executor, clock) = (ManualExecutor(), VirtualClock())
            executor.task { while true { await Task.yield() } }
            executor.run(until: .init(offset: .seconds(1)), of: clock)
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("ManualExecutor is not idle after 1000000 steps"))
    }

    @Test func `a run stops at its instant`() {
        let executor = ManualExecutor()
        let clock = VirtualClock()
        let ticks = Guarded(0)
        let task = executor.task {
            while true {
                try await clock.sleep(for: .seconds(1))
                ticks.withLock { $0 += 1 }
            }
        }
        executor.run(until: .init(offset: .milliseconds(5500)), of: clock)
        #expect(ticks.withLock { $0 } == 5 && clock.now.offset == .milliseconds(5500))
        task.cancel()
        executor.runUntilIdle()
    }

    @Test func `a timeline has the time, the operation and the kind of each event`() {
        let executor = ManualExecutor()
        let clock = VirtualClock()
        let recorder = OperationRecorder(clock)
        let queue = executor.makeQueue()
        queue.maxConcurrentOperationCount = 1
        recorder.record(queue)
        queue.addTask(name: "fetch") { try await clock.sleep(for: .milliseconds(1500)) }
        let parse = queue.addTask(name: "parse") {}
        executor.runUntilIdle()
        parse.cancel()
        executor.runUntilIdle(advancing: clock)
        #expect(
            recorder.timeline == """
                0s    fetch  added
                0s    parse  added
                0s    fetch  starts
                1.5s  fetch  succeeded
                1.5s  parse  starts
                1.5s  parse  was cancelled
                """)
    }

    @Test(.tags(.threads)) func `a test may wait until tasks on threads sleep`() async {
        let (clock, queue, log) = (VirtualClock(), OperationQueue(), Journal<Int>())
        for seconds in [3, 1, 2] {
            queue.addTask {
                try? await clock.sleep(for: .seconds(seconds))
                log.append(seconds)
            }
        }
        await clock.sleepers(atLeast: 3)
        #expect(clock.sleeperCount == 3)
        for count in (0...2).reversed() {
            clock.advanceToNextSleeper()
            #expect(clock.sleeperCount == count)
        }
        await queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries.sorted() == [1, 2, 3] && clock.now.offset == .seconds(3))
        // Enough tasks already sleep.
        await clock.sleepers(atLeast: 0)
    }

    @Test func `waiting for sleepers ends when the waiting task is cancelled`() async {
        let clock = VirtualClock()
        let begun = AsyncGate()
        let waiting = Task {
            begun.open()
            await clock.sleepers(atLeast: 1)
        }
        await begun.pass()
        waiting.cancel()
        await waiting.value
        #expect(clock.sleeperCount == 0)
    }

    @Test func `very many sleepers resume in order, and cancelled sleepers leave nothing behind`() {
        let (executor, clock, woken) = (ManualExecutor(), VirtualClock(), Guarded(0))
        let count = 3000
        let tasks = (0..<2 * count).map { number in
            executor.task {
                guard (try? await clock.sleep(for: .seconds(1 + number))) != nil else { return }
                woken.withLock { $0 += 1 }
            }
        }
        executor.runUntilIdle()
        #expect(clock.sleeperCount == 2 * count)
        for task in tasks[count...] { task.cancel() }
        executor.runUntilIdle(advancing: clock)
        #expect(woken.withLock { $0 } == count)
        #expect(clock.sleeperCount == 0 && clock.now.offset == .seconds(count))
    }
}
