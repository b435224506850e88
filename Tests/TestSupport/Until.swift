#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Returns when a state that another thread reaches without a signal is reached.
package func until(_ isTrue: () -> Bool) { while !isTrue() { sched_yield() } }

/// As `until`, in a task. Frees the thread meanwhile: waiting tasks of other test cases need it.
package func untilTrue(_ isTrue: () -> Bool) async { while !isTrue() { await Task.yield() } }
