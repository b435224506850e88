import CPlatform
import Synchronization

/// A lock of one byte for sections of a few instructions that rarely meet. As a stored property of an object it needs no
/// allocation; `Locked` needs one of about eighty bytes.
///
/// A thread that meets another one spins for about a microsecond. Then it yields, so that a holder that has lost its core
/// can continue. The rules of `Locked` apply here too. The guarded properties are declared `@exclusivity(unchecked)`,
/// because the lock makes access exclusive.
struct SpinLock: ~Copyable, Sendable {
    private let isHeld = Atomic<Bool>(false)

    @inline(__always)
    func withLock<Result>(_ body: () -> Result) -> Result {
        HeldLocks.willLock()
        Primitives.noteExchange()
        if isHeld.exchange(true, ordering: .acquiring) { wait() }
        defer {
            unlock()
            HeldLocks.didUnlock()
        }
        return body()
    }

    // Never inlined. The optimizer assumes that a store, also an atomic one, releases no object. If it saw this store, it
    // could move the retain of a returned object behind the store. There another thread may have released the last
    // reference. It could also move a release from behind the store into the section. No code moves across a call that
    // ends in a C function, whose effects the optimizer does not know. `Scripts/unlocks` checks the generated code.
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
