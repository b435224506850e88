#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif
import CPlatform
import SchedulerCore
import Synchronization

/// The thread that watches the pools while a source waits for a thread. It finds blocked workers, so that other workers
/// replace them. It also requests threads for the timers that are due.
///
/// The monitor looks every millisecond at first. While the workers compute, it looks less often, at least each
/// `longestTick`. After a while without work to watch it sleeps until it is called, except when a timer is due.
final class Monitor: Sendable {
    static let shared = Monitor()

    static let shortestTick: UInt64 = 1_000_000
    static let longestTick: UInt64 = 8_000_000
    /// The number of looks without a finding before the monitor sleeps.
    private static let patience = 50
    /// The time in nanoseconds after which a waiting thread requests a thread for the monitor.
    private static let patienceForBirth: UInt64 = 100_000_000

    private enum Phase { static let unborn: UInt8 = 0, asleep: UInt8 = 1, awake: UInt8 = 2 }
    private let phase = Atomic<UInt8>(Phase.unborn)
    private let hasWorkers = Atomic(false)
    private let hasBegun = Atomic(false)
    private let parker = Parker()
    private let births = Locked<[Worker]>([])
    let timers = Timers()

    /// Starts the thread of a new worker, in place of a thread that must not. False: the caller starts the thread.
    ///
    /// On Linux a new thread has the nice value of the thread that creates it, and cannot reduce that value. So threads
    /// with a raised nice value create no threads, and the monitor exists before the first worker with a raised value.
    /// This includes threads of Dispatch: Dispatch creates its threads on the thread that submits work, for example a
    /// worker of a low level that resumes a task. The monitor also exists before the second worker of all. If threads are
    /// scarce, the monitor could not get a thread later, and only the monitor requests threads again.
    func takesOver(_ worker: Worker) -> Bool {
        let isFirst = !hasWorkers.exchange(true, ordering: .relaxed)
        if !isFirst || worker.pool.level != .normal { beBorn() }
        #if canImport(Darwin)
        return false
        #else
        guard Niceness.ofThread != Niceness.ofProcess else { return false }
        births.withLock { $0.append(worker) }
        wakeIfAsleep()
        parker.unpark()
        // If the system refuses a thread for the monitor, no thread delivers the worker.
        guard phase.load(ordering: .sequentiallyConsistent) == Phase.unborn else { return true }
        return !births.withLock { births in
            let index = births.firstIndex { $0 === worker }
            if let index { births.remove(at: index) }
            return index != nil
        }
        #endif
    }

    /// Starts a timer.
    func start(_ timer: Timer) {
        Fork.check()
        let isTooLate = timers.add(timer)
        if phase.load(ordering: .sequentiallyConsistent) == Phase.unborn {
            wakeIfAsleep()
        } else if isTooLate {
            parker.unpark()
        }
    }

    /// Cancels a timer. The call may precede, and race with, the start of the timer, which has to follow.
    ///
    /// - Returns: Whether this call ended the timer. If so, the timer does not fire.
    @discardableResult
    func cancel(_ timer: Timer) -> Bool { timers.cancel(timer) }

    /// Whether the thread of the monitor has begun.
    var hasThread: Bool { hasBegun.load(ordering: .relaxed) }

    private func deliver() {
        for worker in births.exchange([]) { _ = worker.pool.spawn(worker) }
    }

    private func beBorn() { if phase.load(ordering: .relaxed) == Phase.unborn { wakeIfAsleep() } }

    func wakeIfAsleep() {
        // Sequentially consistent with `sleep`: the caller made its request before this load.
        guard phase.load(ordering: .sequentiallyConsistent) != Phase.awake else { return }
        switch phase.exchange(Phase.awake, ordering: .sequentiallyConsistent) {
        case Phase.unborn: spawn()
        case Phase.asleep: parker.unpark()
        default: break
        }
    }

    /// Parks the calling thread. While the monitor has no thread, the caller requests one now and then. If the system has refused
    /// threads, no other code may run that would request them again.
    ///
    /// - Parameter limit: The largest number of nanoseconds; nil for none.
    /// - Returns: Whether the parker was unparked.
    func park(_ parker: Parker, atMost limit: UInt64?) -> Bool {
        let start = MonotonicClock.now
        while !hasThread {
            let rest = limit.map { $0 - min($0, MonotonicClock.elapsed(since: start)) } ?? .max
            if parker.park(nanoseconds: min(rest, Self.patienceForBirth)) { return true }
            if rest <= Self.patienceForBirth { return false }
            beBorn()
        }
        guard let limit else {
            parker.park()
            return true
        }
        return parker.park(nanoseconds: limit - min(limit, MonotonicClock.elapsed(since: start)))
    }

    private func spawn() {
        let isStarted = cplatform_start_thread({ _ in Monitor.shared.run() }, nil)
        if !isStarted { phase.store(Phase.unborn, ordering: .sequentiallyConsistent) }
    }

    private func run() {
        hasBegun.store(true, ordering: .relaxed)
        ServiceLevel.normal.apply()
        #if !canImport(Darwin)
        cplatform_set_thread_name("operation-watch")
        #endif
        var idleLooks = 0
        var tick = Self.shortestTick
        while true {
            if idleLooks > Self.patience {
                sleep()
                idleLooks = 0
                tick = Self.shortestTick
            } else {
                wait(atMost: tick)
            }
            deliver()
            fireTimers()
            let findings = WorkerPool.pools.map { $0.survey() }
            idleLooks = findings.contains(where: \.isWorthwhile) ? 0 : idleLooks + 1
            let isSoon = idleLooks > 0 || findings.contains(where: \.isUrgent)
            tick = isSoon ? Self.shortestTick : min(tick * 2, Self.longestTick)
        }
    }

    /// Only fires timers, until the monitor is called.
    private func sleep() {
        phase.store(Phase.asleep, ordering: .sequentiallyConsistent)
        // A request or a promise made before the store has not woken the monitor. So the monitor looks once more before it
        // sleeps. It waits first: a processor may read the phase before its promise is visible, and makes it visible soon.
        _ = parker.park(nanoseconds: Self.shortestTick)
        deliver()
        guard !WorkerPool.pools.contains(where: { $0.survey().isWorthwhile }) else {
            return phase.store(Phase.awake, ordering: .sequentiallyConsistent)
        }
        // Nothing reduces them during the sleep. A request that needs one wakes the monitor.
        for pool in WorkerPool.pools { pool.endAllowances() }
        while phase.load(ordering: .sequentiallyConsistent) == Phase.asleep {
            fireTimers()
            wait()
        }
    }

    private func fireTimers() { timers.takeDue { WorkerPool[.normal].request($0) } }

    private func wait(atMost limit: UInt64 = .max) {
        let delay = timers.beginWait(atMost: limit)
        if delay == .max { parker.park() } else { _ = parker.park(nanoseconds: delay) }
        timers.endWait()
    }
}
