import Operations
import OperationsFoundation
import OperationsTesting

// Conditions, shared resources, a retry and time limits, in virtual time: the hours of this program take no time.

let executor = ManualExecutor()
let clock = VirtualClock()
let queue = executor.makeQueue()
let recorder = OperationRecorder(clock)
recorder.record(queue)

func named<Kind: Operation>(_ name: String, _ operation: Kind) -> Kind {
    operation.name = name
    return operation
}

// Conditions.
let isOnline = OperationCondition("online") { true }
let isOnBattery = OperationCondition("on battery") { false }
let hasSpace = OperationCondition("space left") { operation in
    struct DiskFull: Error {}
    throw DiskFull()
}
let upload = named("upload", TaskOperation {})
upload.addCondition(isOnline && !isOnBattery)
let store = named("store", TaskOperation {})
store.addCondition(hasSpace)
let nightly = named("nightly", TaskOperation {})
nightly.addCondition(.notBefore(clock.now.advanced(by: .seconds(3600)), clock: clock))

// Resources: one rendering waits until the other rendering has returned its memory.
let machine = ResourcePool(["memory": 8, "licence": 1])
let renderings = (1...2).map { number in
    let rendering = named("render \(number)", TaskOperation { try await clock.sleep(for: .seconds(10)) })
    rendering.addRequirement(.units(5, of: "memory", in: machine))
    rendering.addRequirement(.exclusive("preview"))
    return rendering
}

// Time limits, and a retry.
struct Unreachable: Error {}
let slow = named("slow", TaskOperation { try await clock.sleep(for: .seconds(60)) })
slow.setTimeout(.seconds(30), clock: clock)
let late = named("late", BlockOperation {})
late.addDependency(nightly)
late.setDeadline(clock.now.advanced(by: .seconds(20)), clock: clock)

let policy = RetryPolicy(retries: 3, backoff: .exponential(.seconds(1)), jitter: .none) { $0 is Unreachable }
let fetch = named(
    "fetch",
    TaskOperation {
        try await policy.run(clock: clock) { attempt in
            guard attempt == 3 else { throw Unreachable() }
            return attempt
        }
    })

for operation in [upload, store, nightly, slow, late, fetch] as [Operation] { queue.addOperation(operation) }
for rendering in renderings { queue.addOperation(rendering) }
executor.runUntilIdle()
print(queue.explain(renderings[1]))
print(machine.usage(of: "memory")!)
executor.runUntilIdle(advancing: clock)
print(recorder.timeline)

precondition(clock.now.offset == .seconds(3600))
for operation in [upload, nightly, fetch] as [Operation] + renderings {
    guard case .succeeded? = operation.operationOutcome else { fatalError("\(operation)") }
}
guard case .failed(is OperationConditionFailure)? = store.operationOutcome else { fatalError("\(store)") }
guard case .failed(OperationTimeout.timeout)? = slow.operationOutcome else { fatalError("\(slow)") }
guard case .failed(OperationTimeout.deadline)? = late.operationOutcome else { fatalError("\(late)") }

// A new operation for each attempt. The attempts run in a queue of the retry operation, on real threads.
let attempts = RetryPolicy(retries: 3, backoff: .none)
let reload = RetryOperation(attempts) { attempt in TaskOperation { if attempt < 3 { throw Unreachable() } } }
OperationQueue().addOperations([reload], waitUntilFinished: true)
print("reload:", reload.operationOutcome!)

do { _ = try OperationRequirement.tryUnits(9, of: "memory", in: machine) } catch { print(error) }
