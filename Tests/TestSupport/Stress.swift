#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The size of the tests that have the tag `slow`, from the environment variable `OPERATIONS_STRESS`: a factor. The full size is 1.
/// Without the variable the tests are small, because everyone runs `swift test`.
package enum Stress {
    package static let factor: Double = getenv("OPERATIONS_STRESS").flatMap { Double(String(cString: $0)) } ?? 0.05

    /// The number of rounds for a test that has this number at its full size.
    ///
    /// - Parameter least: The least number with which the test still finds its faults.
    package static func rounds(_ full: Int, least: Int = 1) -> Int { max(least, Int(Double(full) * factor)) }
}
