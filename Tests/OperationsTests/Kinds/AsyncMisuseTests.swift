import Operations
import TestSupport
import Testing

/// Rule M8 for tasks: a wait that can never end is an error, not a hang.
@Suite(.timeLimit(.minutes(5))) struct AsyncMisuseTests {
    @Test func `an operation that awaits its own value gets an error, also from a child task`() async throws {
        let queue = OperationQueue()
        for inChild in [false, true] {
            let itself = Guarded<TaskOperation<String>?>(nil)
            let operation = TaskOperation {
                let operation = itself.withLock { $0! }
                do {
                    if inChild {
                        async let value = operation.value
                        return try await value
                    }
                    return try await operation.value
                } catch let error as OperationError {
                    return error.description
                }
            }
            operation.name = "narcissus"
            itself.withLock { $0 = operation }
            queue.addOperation(operation)
            let message = try await operation.value
            #expect(message.contains("'narcissus' waits for itself"))
            itself.withLock { $0 = nil }
        }
    }

    @Test func `waiting inside a serial queue for another operation of it throws`() async throws {
        let queue = OperationQueue()
        queue.name = "serial"
        queue.maxConcurrentOperationCount = 1
        let errors = try await queue.run { () -> [OperationError?] in
            let other = queue.addTask { 1 }
            return [
                await Self.misuse { try await other.value },
                await Self.misuse { try await other.tryWaitUntilFinished() },
                await Self.misuse { try await queue.run { 2 } },
                await Self.misuse { try await queue.tryWaitUntilAllOperationsAreFinished() },
            ]
        }
        for error in errors[..<3] {
            guard case .waitsInsideSerialQueue? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        guard case .waitsForItself? = errors[3] else {
            Issue.record("\(String(describing: errors[3]))")
            return
        }
        await queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `a child that waits for its group, or for an outer group, gets an error`() async throws {
        let outer = GroupOperation()
        let inner = GroupOperation()
        let misuses = Guarded<[OperationError?]>([])
        inner.addChildTask {
            let found = [
                await Self.misuse { try await inner.tryWaitUntilFinished() },
                await Self.misuse { try await outer.tryWaitUntilFinished() },
            ]
            misuses.withLock { $0 += found }
        }
        inner.addChild(
            BlockOperation {
                do throws(OperationError) { try outer.tryWaitUntilFinished() } catch {
                    misuses.withLock { $0.append(error) }
                }
            })
        outer.addChild(inner)
        OperationQueue().addOperation(outer)
        await outer.waitUntilFinished()
        #expect(misuses.withLock { $0.count } == 3)
        #expect(!misuses.withLock { $0.contains { if case .waitsForItself? = $0 { false } else { true } } })
    }

    @Test func `an operation started by hand inside a serial queue holds its slot as well`() async {
        let queue = OperationQueue.serial()
        let misuse = Guarded<OperationError?>(nil)
        queue.isSuspended = true
        let later = BlockOperation {}
        queue.addOperation {
            BlockOperation {
                do throws(OperationError) { try later.tryWaitUntilFinished() } catch { misuse.withLock { $0 = error } }
            }.start()
        }
        queue.addOperation(later)
        queue.isSuspended = false
        await queue.waitUntilAllOperationsAreFinished()
        guard case .waitsInsideSerialQueue? = misuse.withLock({ $0 }) else {
            Issue.record("\(String(describing: misuse.withLock { $0 }))")
            return
        }
    }

    @Test func `with a free slot, an operation waits for another operation of its queue`() async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 2
        let value = try await queue.run { try await queue.run { 1 } + queue.addTask { 2 }.value }
        #expect(value == 3)
    }

    @Test func `the plain members stop the process with the rule`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await OperationQueue().run { await OperationQueue.current?.waitUntilAllOperationsAreFinished() }
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("waits for "))
    }

    private static func misuse<Value>(_ body: () async throws -> Value) async -> OperationError? {
        do { _ = try await body() } catch let error as OperationError { return error } catch {}
        return nil
    }
}
