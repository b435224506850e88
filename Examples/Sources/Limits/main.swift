import OperationsFoundation
import OperationsTesting

// Flow control: capacities, rates, keys and priorities, step by step in virtual time.

let executor = ManualExecutor()
let clock = VirtualClock()

/// The operations that have run, in their order. The whole program runs on one thread.
nonisolated(unsafe) var log: [String] = []

func write(_ text: String) -> BlockOperation {
    let operation = BlockOperation { log.append(text) }
    operation.name = text
    return operation
}

/// Runs all operations, and prints them in the order in which they ran.
func show(_ title: String, expecting expected: [String]) {
    executor.runUntilIdle(advancing: clock)
    print("\(title):", log.joined(separator: ", "))
    precondition(log == expected, "\(expected) was expected")
    log = []
}

// A capacity that refuses further operations.
let small = executor.makeQueue()
small.name = "small"
small.setCapacity(2)
for number in 1...3 {
    do { try small.tryAddOperation(write("\(number)")) } catch { print(error) }
}
// A task waits for a free place.
executor.task { try await small.addOperationWaitingForCapacity(write("patient")) }
show("bounded", expecting: ["1", "2", "patient"])

// Capacities that cancel waiting operations.
small.setCapacity(2, onOverflow: .dropOldest)
for number in 1...3 { try small.tryAddOperation(write("\(number)")) }
show("without the oldest", expecting: ["2", "3"])
small.setCapacity(2, onOverflow: .dropLowest)
for (text, priority) in [("low", Operation.QueuePriority.low), ("normal", .normal), ("high", .high)] {
    let operation = write(text)
    operation.queuePriority = priority
    try small.tryAddOperation(operation)
}
show("without the lowest", expecting: ["high", "normal"])

// Rates: the start times of operations.
let paced = executor.makeQueue()
paced.setRateLimit(.tokenBucket(10, per: .seconds(1), burst: 2), clock: clock)
let start = clock.now
for _ in 1...4 { paced.addOperation { log.append("\(start.duration(to: clock.now) / .milliseconds(1))") } }
show("milliseconds", expecting: ["0.0", "0.0", "100.0", "200.0"])
paced.setRateLimit(.slidingWindow(60, per: .seconds(60)), clock: clock)
paced.setRateLimit(nil)

// Keys take turns.
let hosts = executor.makeQueue()
hosts.maxConcurrentOperationCount = 1
hosts.setLimitPerKey(2)
hosts.setLimit(1, forKey: "slow.example")
for number in 1...3 { hosts.addOperation(write("a\(number)"), limitKey: "a.example") }
hosts.addOperation(write("b1"), limitKey: "b.example")
show("in turns", expecting: ["a1", "b1", "a2", "a3"])

// Priorities.
func add(_ text: String, _ priority: Operation.QueuePriority, to queue: OperationQueue) -> Operation {
    let operation = write(text)
    operation.queuePriority = priority
    queue.addOperation(operation)
    return operation
}

let line = executor.makeQueue()
line.maxConcurrentOperationCount = 1

/// Adds a low operation, a normal operation, and an urgent operation that depends on the low one.
func addInversion() {
    line.isSuspended = true
    let low = add("low", .low, to: line)
    _ = add("normal", .normal, to: line)
    let urgent = write("urgent")
    urgent.queuePriority = .veryHigh
    urgent.addDependency(low)
    line.addOperation(urgent)
    line.isSuspended = false
}

addInversion()
show("as documented", expecting: ["normal", "low", "urgent"])
line.priorityPolicy = .init(inheritsPriority: true)
addInversion()
show("inherited", expecting: ["low", "urgent", "normal"])

line.priorityPolicy = .init(starvationLimit: 2)
line.isSuspended = true
for number in 1...4 { _ = add("high \(number)", .high, to: line) }
for number in 1...2 { _ = add("low \(number)", .low, to: line) }
line.isSuspended = false
show("aging", expecting: ["high 1", "high 2", "low 1", "high 3", "high 4", "low 2"])
