import Synchronization

/// A lock of one byte for sections of a few instructions that almost never meet, inside an object that has it as a
/// stored property: it costs no allocation, where `Locked` costs one of some eighty bytes.
///
/// A thread that meets another looks again for about a microsecond and then yields, so that a holder which lost its core
/// gets it back. The house rule of `Locked` holds here too. What it guards is declared `@exclusivity(unchecked)`: the
/// lock is what makes access exclusive.
struct SpinLock: ~Copyable, Sendable {
    private let isHeld = Atomic<Bool>(false)

    @inline(__always)
    func withLock<Result>(_ body: () -> Result) -> Result {
        HeldLocks.willLock()
        if isHeld.exchange(true, ordering: .acquiring) { wait() }
        defer {
            isHeld.store(false, ordering: .releasing)
            HeldLocks.didUnlock()
        }
        return body()
    }

    @inline(never)
    private func wait() {
        repeat {
            if !Processor.spin(until: { !isHeld.load(ordering: .relaxed) }) { Processor.yield() }
        } while isHeld.exchange(true, ordering: .acquiring)
    }
}
