import CPlatform
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
            unlock()
            HeldLocks.didUnlock()
        }
        return body()
    }

    // Never inlined. The optimizer knows that a store releases nothing, an atomic store included. If it saw this store, it
    // would move the retain of an object that the section returns behind it, where another thread may have released the
    // last reference; and it would move a release from behind the store into the section. Nothing moves across a call
    // that ends in a C function, whose effects the optimizer does not know. `Scripts/unlocks` looks at the generated code.
    @inline(never)
    private func unlock() {
        cplatform_barrier()
        isHeld.store(false, ordering: .releasing)
    }

    @inline(never)
    private func wait() {
        repeat {
            if !Processor.spin(until: { !isHeld.load(ordering: .relaxed) }) { Processor.yield() }
        } while isHeld.exchange(true, ordering: .acquiring)
    }
}
