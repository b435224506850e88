import SchedulerCore

/// A barrier travels through its queue as an operation does, but is none to the outside: not counted, not listed.
final class BarrierBlock: Operation, @unchecked Sendable {
    // Sendable: `block` is touched by `main` alone, once.
    private var block: (@Sendable () -> Void)?

    init(_ block: @escaping @Sendable () -> Void) {
        self.block = block
        super.init()
        word.insert([.barrier, .unlisted])
    }

    override func main() { block.take()?() }
}

extension OperationQueue {
    func addBarrier(_ block: @escaping @Sendable () -> Void) {
        stopOnMisuse { () throws(OperationError) in try add(BarrierBlock(block)) }
    }
}
