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

    private enum Blocks {
        case none
        case one(@Sendable () -> Void)
        case several([@Sendable () -> Void])
        /// They have been taken to run.
        case taken

        var all: [@Sendable () -> Void] {
            switch self {
            case .none, .taken: []
            case .one(let block): [block]
            case .several(let blocks): blocks
            }
        }
    }

    /// An operation without a block, which just finishes.
    public override init() {
        blocks = .none
        super.init()
    }

    /// An operation with one block.
    public convenience init(block: @escaping @Sendable () -> Void) {
        self.init()
        // Nobody else has the operation yet.
        blocks = .one(block)
    }

    deinit {
        switch blocks {
        case .none, .taken: break
        case .one, .several:
            Release.add(takeBlocks())
            Release.run(in: .current)
        }
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
                switch blocks {
                case .none: blocks = .one(block)
                case .one(let first): blocks = .several([first, block])
                case .several(var all):
                    // Taken out: else it would be copied.
                    blocks = .none
                    all.append(block)
                    blocks = .several(all)
                case .taken: return false
                }
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
        var taken = Blocks.taken
        withBlocks { swap(&taken, &$0) }
        return taken
    }

    /// Runs the blocks and returns when all have returned.
    open override func main() { runBlocks() }

    final func runBlocks() {
        // Nothing else holds the blocks from now on, and what runs them lets each go when it has run (rule W5).
        let blocks = takeBlocks()
        HeldLocks.assertNone()
        let several: ConcurrentBlocks
        switch consume blocks {
        case .none, .taken: return
        case .one(let block): return block()
        case .several(let blocks): several = ConcurrentBlocks(blocks, of: self)
        }
        several.run()
    }
}
