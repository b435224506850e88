#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The size of the stress tests, from the environment variable `OPERATIONS_STRESS`: a factor. By default 1 in a release build,
/// and 0.5 in a debug build, whose `swift test` everyone runs.
enum Stress {
    static let factor: Double = getenv("OPERATIONS_STRESS").flatMap { Double(String(cString: $0)) } ?? normal

    #if DEBUG
    private static let normal = 0.5
    #else
    private static let normal = 1.0
    #endif

    static func rounds(_ normal: Int) -> Int { max(1, Int(Double(normal) * factor)) }
}
