/// An operation that runs one or more blocks, and finishes when all of them have returned.
///
/// The blocks run concurrently, so a block may wait for another block, also in a serial queue. The first block runs on
/// the thread that starts the operation. The other blocks use no slot of the queue. Up to `guaranteedConcurrency` blocks
/// that wait for each other never deadlock.
open class BlockOperation: Operation, @unchecked Sendable {
    // Sendable: `blocks` is reached only through `withBlocks`.
    @exclusivity(unchecked) private final var blocks: Blocks
    // Behind the blocks, where it fills a gap.
    private final let lock = SpinLock()

    /// The number of blocks of one operation that run at the same time, if they wait for each other.
    public static let guaranteedConcurrency = 64

    private enum Blocks {
        case none
        case one(@Sendable () -> Void)
        case several([@Sendable () -> Void])
        /// A thread has taken the blocks to run them.
        case taken

        var all: [@Sendable () -> Void] {
            switch self {
            case .none, .taken: []
            case .one(let block): [block]
            case .several(let blocks): blocks
            }
        }
    }

    /// Creates an operation without a block. It finishes when it is started.
    public override init() {
        blocks = .none
        super.init()
        isPlainBlock = type(of: self) == BlockOperation.self
    }

    /// Creates an operation with one block.
    public convenience init(block: @escaping @Sendable () -> Void) {
        self.init()
        // No other thread has the operation yet. Initialized, not assigned: there is nothing to release.
        withUnsafeMutablePointer(to: &blocks) { $0.initialize(to: .one(block)) }
    }

    /// Creates an operation with a name, which texts about the operation contain, and one block.
    @_disfavoredOverload
    public convenience init(name: String, block: @escaping @Sendable () -> Void) {
        self.init(block: block)
        self.name = name
    }

    deinit {
        switch blocks {
        case .none, .taken: break
        case .one, .several:
            Release.add(takeBlocks())
            Release.run(in: .current)
        }
    }

    /// Adds a block.
    ///
    /// The call stops the process if the operation executes or has finished. ``tryAddExecutionBlock(_:)`` throws an error
    /// instead.
    open func addExecutionBlock(_ block: @escaping @Sendable () -> Void) {
        stopOnMisuse { () throws(OperationError) in try tryAddExecutionBlock(block) }
    }

    /// Adds a block, and throws an error if the operation executes or has finished.
    ///
    /// - Throws: `OperationError.lateExecutionBlock`. The call has changed nothing then.
    public final func tryAddExecutionBlock(_ block: @escaping @Sendable () -> Void) throws(OperationError) {
        let isLate = isExecuting || isFinished
        let isTaken =
            !isLate
            && withBlocks { blocks in
                switch blocks {
                case .none: blocks = .one(block)
                case .one(let first): blocks = .several([first, block])
                case .several(var all):
                    // Removed first, because the array would be copied otherwise.
                    blocks = .none
                    all.append(block)
                    blocks = .several(all)
                case .taken: return false
                }
                return true
            }
        guard isTaken else { throw .lateExecutionBlock(operation: label) }
    }

    /// The blocks in the order added; empty after the operation has begun to run them.
    open var executionBlocks: [@Sendable () -> Void] { withBlocks { $0.all } }

    override func discardWork() { _ = takeBlocks() }

    @inline(__always)
    private final func withBlocks<Result>(_ body: (inout Blocks) -> Result) -> Result {
        lock.withLock { body(&blocks) }
    }

    private final func takeBlocks() -> Blocks {
        // A swap retains nothing, a copy does.
        var taken = Blocks.taken
        withBlocks { swap(&taken, &$0) }
        return taken
    }

    /// Runs the blocks and returns when all of them have returned.
    open override func main() { runBlocks() }

    final func runBlocks() {
        // Only this function holds the blocks now, and each block is released when it has run (rule W5).
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
