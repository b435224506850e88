/// Runs one or more blocks; it is finished when all have returned (rules B1–B4).
///
/// The blocks run concurrently, so one may wait for another, also in a queue of width 1. The first runs on the thread
/// that starts the operation; the others take no slot of the queue. At least `guaranteedConcurrency` blocks that wait
/// for one another never deadlock.
open class BlockOperation: Operation, @unchecked Sendable {
    // Sendable: `blocks` is reached only through `withBlocks`.
    private final let lock = SpinLock()
    @exclusivity(unchecked) private final var blocks: Blocks

    /// So many blocks of one operation run at a time, if need be (rule B4).
    public static let guaranteedConcurrency = 64

    private struct Blocks {
        var first: (@Sendable () -> Void)?
        var others: [@Sendable () -> Void] = []
        var hasBegun = false

        var all: [@Sendable () -> Void] { (first.map { [$0] } ?? []) + others }
    }

    /// An operation without a block, which just finishes.
    public override init() {
        blocks = Blocks()
        super.init()
    }

    /// An operation with one block.
    public convenience init(block: @escaping @Sendable () -> Void) {
        self.init()
        // Nobody else has the operation yet.
        blocks.first = block
    }

    /// Adds a block. When the operation executes or has finished that is misuse (M5); `tryAddExecutionBlock` throws.
    open func addExecutionBlock(_ block: @escaping @Sendable () -> Void) {
        stopOnMisuse { () throws(OperationError) in try tryAddExecutionBlock(block) }
    }

    /// `addExecutionBlock` that throws misuse M5 as an error and then has changed nothing.
    public final func tryAddExecutionBlock(_ block: @escaping @Sendable () -> Void) throws(OperationError) {
        let isLate = isExecuting || isFinished
        let isTaken =
            !isLate
            && withBlocks { blocks in
                guard !blocks.hasBegun else { return false }
                if blocks.first == nil { blocks.first = block } else { blocks.others.append(block) }
                return true
            }
        guard isTaken else { throw .lateExecutionBlock(operation: label) }
    }

    /// The blocks in the order added; none once they have been taken to run (rule W5).
    open var executionBlocks: [@Sendable () -> Void] { withBlocks { $0.all } }

    override func discardWork() { _ = takeBlocks() }

    @inline(__always)
    private final func withBlocks<Result>(_ body: (inout Blocks) -> Result) -> Result {
        lock.withLock { body(&blocks) }
    }

    private final func takeBlocks() -> Blocks {
        // Swapped, not copied: nothing is retained.
        var taken = Blocks(hasBegun: true)
        withBlocks { swap(&taken, &$0) }
        return taken
    }

    /// Runs the blocks and returns when all have returned.
    open override func main() { runBlocks() }

    final func runBlocks() {
        // Nothing else holds the blocks from now on, and what runs them lets each go when it has run (rule W5).
        var blocks = takeBlocks()
        HeldLocks.assertNone()
        if blocks.others.isEmpty {
            if let only = blocks.first.take() { only() }
        } else {
            let several = ConcurrentBlocks(blocks.all, of: self)
            blocks = Blocks()
            several.run()
        }
    }
}
