#if Networking
import Operations

/// One direction of one exchange, at the caps that hold for it: that of its session and its own (rule R13).
struct Pacing: Sendable {
    private let users: [(throttle: Throttle, number: Int)]

    init(_ throttles: [Throttle]) { users = throttles.map { ($0, $0.newUser()) } }

    var isCapped: Bool { users.contains(where: \.throttle.isCapped) }

    /// How many bytes to ask for at a time.
    var piece: Int { users.map(\.throttle.piece).min() ?? 64 << 10 }

    /// Suspends until so many bytes may pass.
    func pass(_ bytes: Int) async throws {
        for user in users { try await user.throttle.pass(bytes, for: user.number) }
    }

    func passed(_ bytes: Int, at now: Duration) {
        for user in users { user.throttle.passed(bytes, at: now.wholeNanoseconds) }
    }
}
#endif
