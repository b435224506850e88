import Testing

#if PLAIN_FOUNDATION
import Foundation
#else
import OperationsFoundation
#endif

extension Operation {
    /// The style of wrappers that replace the completion block by a block that calls the old one first.
    func addCompletion(_ block: @escaping @Sendable () -> Void) {
        let old = completionBlock
        completionBlock = {
            old?()
            block()
        }
    }
}

/// An operation that moves every completion block to a dispatch queue.
private final class HandingOver: Operation, @unchecked Sendable {
    // Sendable: constants.
    private let target = DispatchQueue(label: "completions")

    override var completionBlock: (@Sendable () -> Void)? {
        get { super.completionBlock }
        set {
            guard let newValue else { return super.completionBlock = nil }
            let target = target
            super.completionBlock = { target.async(execute: DispatchWorkItem(block: newValue)) }
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct CompletionStyle {
    @Test func `each block of a chain runs once, in order`() {
        let (queue, log, done) = (OperationQueue(), Log(), DispatchSemaphore(value: 0))
        let operation = BlockOperation { log.append("main") }
        for number in 0..<5 { operation.addCompletion { log.append("\(number)") } }
        operation.addCompletion { done.signal() }
        queue.addOperation(operation)
        done.wait()
        #expect(log.entries == ["main", "0", "1", "2", "3", "4"])
    }

    @Test func `a block that is added while the operation runs is called`() {
        let (queue, log, done) = (OperationQueue(), Log(), DispatchSemaphore(value: 0))
        let operation = BlockOperation()
        operation.addCompletion { log.append("before") }
        operation.addExecutionBlock { [unowned operation] in
            operation.addCompletion {
                log.append("meanwhile")
                done.signal()
            }
        }
        queue.addOperation(operation)
        done.wait()
        #expect(log.entries == ["before", "meanwhile"])
    }

    @Test func `an overridden setter decides where the block runs`() {
        let (queue, done) = (OperationQueue(), DispatchSemaphore(value: 0))
        let operation = HandingOver()
        operation.addCompletion { done.signal() }
        queue.addOperation(operation)
        done.wait()
        queue.waitUntilAllOperationsAreFinished()
        #expect(operation.isFinished)
    }
}
