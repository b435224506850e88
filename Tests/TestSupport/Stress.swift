#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The size of tests that repeat their work or use many objects, from the environment variable `OPERATIONS_STRESS`: a factor. The
/// full size is 1. Without the variable the tests are small, because everyone runs `swift test`.
package enum Stress {
    package static let factor: Double = setFactor ?? 0.05

    private static let setFactor: Double? = getenv("OPERATIONS_STRESS").flatMap { Double(String(cString: $0)) }

    /// The size of a test that has this size at its full size.
    ///
    /// - Parameter least: The least number with which the test still finds its faults.
    package static func rounds(_ full: Int, least: Int = 1) -> Int { max(least, Int(Double(full) * factor)) }

    /// The size of a test that has this size at its full size, and of which a twentieth takes too long.
    ///
    /// - Parameter small: The size without the variable.
    package static func rounds(_ full: Int, small: Int) -> Int { setFactor == nil ? small : rounds(full) }
}
