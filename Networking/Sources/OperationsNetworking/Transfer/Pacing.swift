import Operations

/// The bandwidth caps of one direction of one exchange: the session's cap and the request's cap.
struct Pacing: Sendable {
    private struct User {
        let throttle: Throttle
        let number: Int

        init(_ throttle: Throttle) {
            self.throttle = throttle
            number = throttle.newUser()
        }
    }

    private let shared: User
    private let own: User?

    init(_ session: Throttle, _ own: Throttle?) {
        shared = User(session)
        self.own = own.map(User.init)
    }

    var isCapped: Bool { shared.throttle.isCapped || own?.throttle.isCapped == true }

    /// The number of bytes to request at a time.
    var piece: Int { min(shared.throttle.piece, own?.throttle.piece ?? .max) }

    /// Suspends until this number of bytes may pass.
    func pass(_ bytes: Int) async throws {
        try await shared.throttle.pass(bytes, for: shared.number)
        if let own { try await own.throttle.pass(bytes, for: own.number) }
    }

    func passed(_ bytes: Int, at now: Duration) {
        shared.throttle.passed(bytes, at: now.wholeNanoseconds)
        own?.throttle.passed(bytes, at: now.wholeNanoseconds)
    }
}
