import SchedulerCore
import Testing

/// Two workers of one queue, the monitor, a thread that adds operations, and a thread that resumes them. One step is one access of
/// the signal, the inbox or a promise, or one section of the queue's lock. Each section asks a `QueueMachine` and a list.
struct WorkerWorld: Hashable {
    enum Kind { case plain, long, async, toCancel }

    /// The places where code of the user waits until another operation has finished.
    enum Place { case body, part, afterEnd, block, release, cancel }

    enum Phase: Int { case new, enqueued, starting, executing, suspended, ended, finished }

    enum Promise: Hashable {
        case none, look, call
        case departure(Int)
    }

    struct Claim: Hashable {
        let operation: Int
        let isToCancel: Bool
    }

    struct Member: Hashable {
        let operation: Int
        var isReady: Bool
        var isRunning = false
    }

    /// The next step of a worker. The order is that of `Shift`.
    enum Step: Hashable {
        case sleep, arrive, turn, look(arrives: Bool, lingers: Bool), next
        case run, begin, body, afterEnd, returned(hasEnded: Bool), attend(departs: Bool), decided(departs: Bool)
        case prepare, told, leave, leaveSection(WorkerMachine.Actions), left(isCalled: Bool), leaveRest, complete
        case promise, release, take, again
        case resume, part
        case linger, claimCall, claimedCall(Bool), wait, waited(arrival: Bool), lookedAfterWait
        case cancel, cancelled, end
    }

    struct Worker: Hashable {
        var machine = WorkerMachine()
        var step = Step.sleep
        /// The actions that the worker has still to perform before the step.
        var todo: WorkerMachine.Actions = []
        var promise = Promise.none
        var claim: Claim?
        /// Whether the worker has looked, and whether the look has found work for others.
        var hasLooked = false
        var more = false
        var operation = 0
        var isResuming = false
        var mayClaim = false
        var isLast = false
    }

    /// A thread that acts on a promise in place of a worker.
    enum Deputy: Hashable {
        case idle
        case took(Promise), ended(Promise), calls(Promise, startable: Bool), acts(Int), departs(Int)
    }

    let scope: WorkerScope
    var workers = [Worker(), Worker()]
    var phases: [Phase]
    var inbox: [Int] = []
    var members: [Member] = []
    var resumptions: [Int] = []
    /// The operations that another thread is going to resume.
    var handed: [Int] = []
    var resumer: Bool = false
    var calls = false
    var isBusy = false
    var isAttended = false
    var requests = 0
    var notified: Set<Int> = []
    var cancelled: Set<Int> = []
    var added = 0
    var isAdding = false
    var deputy = Deputy.idle
    /// The operations whose `cancel()` a thread of a pool calls.
    var cancels: [Int] = []
    var isCancelling = false
    var fault: String?

    init(_ scope: WorkerScope) {
        self.scope = scope
        phases = scope.kinds.map { _ in .new }
    }

    mutating func expect(_ condition: Bool, _ text: String) { if !condition, fault == nil { fault = text } }

    // MARK: Signal and inbox

    mutating func call() {
        guard !calls else { return }
        calls = true
        requests += 1
    }

    /// A step after a push. `Signal.claimCallForSlot`.
    mutating func advise() { if !isBusy, !isAttended { call() } }

    mutating func claimCallForSlot() -> Bool {
        guard !isBusy, !isAttended, !calls else { return false }
        calls = true
        return true
    }

    // MARK: Sections

    var running: Int { members.count(where: \.isRunning) }
    var hasRoom: Bool { running < scope.limit }
    var firstReady: Int? { hasRoom ? members.first { $0.isReady && !$0.isRunning }?.operation : nil }
    var isStartable: Bool { firstReady != nil }

    mutating func drain() {
        for operation in inbox {
            let isReady = isReady(operation)
            if let index = members.firstIndex(where: { $0.operation == operation }) {
                if !members[index].isRunning { members[index].isReady = isReady }
            } else {
                members.append(Member(operation: operation, isReady: isReady))
            }
        }
        inbox = []
    }

    func isReady(_ operation: Int) -> Bool {
        scope.dependencies[operation].map { phases[$0] == .finished || notified.contains(operation) } ?? true
    }

    mutating func publish() { isBusy = !hasRoom && !members.isEmpty }

    /// Claims the first operation, as the machine and the list agree.
    mutating func claimNext(_ machine: inout QueueMachine, _ known: [TestSchedule.Member]) -> Claim? {
        while true {
            let claim = machine.handle(.look(.all)).claim.map { Int(TestSchedule.member($0).id) }
            expect(claim == firstReady, "the queues claim \(claim ?? -1) and \(firstReady ?? -1)")
            guard let claim, let index = members.firstIndex(where: { $0.operation == claim }) else { return nil }
            // A member whose `cancel()` the queue has promised cannot be claimed.
            if scope.kinds[claim] == .toCancel, !cancelled.contains(claim) {
                let member = known.first { $0.id == UInt(claim) }.unsafelyUnwrapped
                _ = machine.handle(.refuse(.passUnretained(member)))
                members[index].isReady = false
                cancelled.insert(claim)
                return Claim(operation: claim, isToCancel: true)
            }
            expect(phases[claim] == .enqueued, "\(claim) is claimed twice")
            phases[claim] = .starting
            members[index].isRunning = true
            return Claim(operation: claim, isToCancel: false)
        }
    }

    /// One section. Returns the claim, and whether other operations can start.
    mutating func section(
        leaving operation: Int? = nil, claims: Bool = false, claimsCall: Bool = false
    ) -> (claim: Claim?, isStartable: Bool, isCalled: Bool) {
        drain()
        // Running members first: their order decides nothing.
        let ordered = members.filter(\.isRunning) + members.filter { !$0.isRunning }
        let known = ordered.map { TestSchedule.Member(UInt($0.operation)) }
        return withExtendedLifetime(known) {
            var machine = QueueMachine(limit: scope.limit)
            for (member, object) in zip(ordered, known) {
                _ = machine.handle(
                    .arrive(
                        .passUnretained(object), .operation, lane: .normal, service: .ofQueue,
                        isReady: member.isReady || member.isRunning))
                if member.isRunning { _ = machine.handle(.look(.all)) }
            }
            if let operation {
                expect(phases[operation] == .ended, "\(operation) leaves twice, or too early")
                let object = known.first { $0.id == UInt(operation) }
                expect(object != nil, "\(operation) leaves, and is no member")
                if let object { _ = machine.handle(.leave(.passUnretained(object))) }
                members.removeAll { $0.operation == operation }
                phases[operation] = .finished
            }
            let isCalled = claimsCall && !isStartable && claimCallForSlot()
            let claim = claims ? claimNext(&machine, known) : nil
            publish()
            expect(machine.startable.isEmpty == !isStartable, "the queues disagree about other work")
            return (claim, isStartable, isCalled)
        }
    }

    // MARK: Properties

    /// Whether code of the user continues at a place.
    func passes(_ place: Place, of operation: Int) -> Bool {
        guard let wait = scope.waits.first(where: { $0.place == place && $0.operation == operation }) else {
            return true
        }
        return phases[wait.other] == .finished
    }

    mutating func checkState() {
        expect(phases.count(where: { $0 == .executing || $0 == .suspended }) <= scope.limit, "too many operations run")
        expect(requests <= 1, "two workers are on their way")
    }

    /// No thread has a step.
    mutating func checkRest() {
        let names = phases.map { "\($0)" }.joined(separator: " ")
        expect(phases.allSatisfy { $0 == .finished }, "work is lost: \(names)")
        expect(!calls && !isAttended, "a worker has left, and pushes still rely on it")
        expect(workers.allSatisfy { $0.step == .sleep && $0.promise == .none }, "a worker does not sleep")
        expect(resumptions.isEmpty && inbox.isEmpty && cancels.isEmpty && requests == 0, "work is left")
    }
}

/// A small program of one queue.
final class WorkerScope: Hashable, Sendable, CustomTestStringConvertible {
    struct Wait {
        let place: WorkerWorld.Place
        let operation: Int
        let other: Int
    }

    let name: String
    let kinds: [WorkerWorld.Kind]
    let limit: Int
    /// An operation, and the one on which it depends.
    let dependencies: [Int: Int]
    let waits: [Wait]
    let paces: [WorkerPace]
    /// Whether the queue is observed, so that no worker claims in the section of a departure.
    let isObserved: Bool
    /// Whether the adding thread waits for each operation before it adds the next one.
    let takesTurns: Bool
    /// Whether the monitor takes promises, at any moment.
    let hasMonitor: Bool
    var testDescription: String { name }

    init(
        _ name: String, _ kinds: [WorkerWorld.Kind], limit: Int = 1, dependencies: [Int: Int] = [:], waits: [Wait] = [],
        paces: [WorkerPace] = [.goesOn, .attends], isObserved: Bool = false, takesTurns: Bool = false,
        hasMonitor: Bool = true
    ) {
        (self.name, self.kinds, self.limit, self.dependencies) = (name, kinds, limit, dependencies)
        (self.waits, self.paces, self.isObserved, self.takesTurns) = (waits, paces, isObserved, takesTurns)
        self.hasMonitor = hasMonitor
    }

    static func == (a: WorkerScope, b: WorkerScope) -> Bool { a === b }
    func hash(into hasher: inout Hasher) {}
}

/// The findings of a worker between two operations.
enum WorkerPace { case goesOn, attends, shares, yields }
