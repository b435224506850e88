import SchedulerCore

/// A barrier. It moves through its queue like an operation, but is neither counted nor listed.
final class BarrierBlock: Operation, @unchecked Sendable {
    // Sendable: only `main` uses `block`, once.
    private var block: (@Sendable () -> Void)?

    init(_ block: @escaping @Sendable () -> Void) {
        self.block = block
        super.init()
        word.insert([.barrier, .unlisted])
    }

    override func main() {
        // Other watchers see operations only. `noteEnd` notes the end.
        queue?._withUnsafeGuaranteedRef { $0.longRunningWatch }?.operation(self, did: .starts)
        block.take()?()
    }
}

extension OperationQueue {
    func addBarrier(_ block: @escaping @Sendable () -> Void) {
        let barrier = BarrierBlock(block)
        do { try add(barrier) } catch { refuse([barrier], error) }
    }
}
