#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The size of the stress tests, from the environment variable `OPERATIONS_STRESS`: a factor, 1 by default.
enum Stress {
    static let factor: Double = getenv("OPERATIONS_STRESS").flatMap { Double(String(cString: $0)) } ?? 1

    static func rounds(_ normal: Int) -> Int { max(1, Int(Double(normal) * factor)) }
}
