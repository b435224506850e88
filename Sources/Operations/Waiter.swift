/// A waiter for an operation or a queue: a sleeping thread or a suspended task.
enum Waiter: Sendable {
    case thread(Parker)
    case task(UnsafeContinuation<Void, Never>)

    var isTask: Bool { if case .task = self { true } else { false } }

    func wake() {
        switch self {
        case .thread(let parker): parker.unpark()
        case .task(let continuation): continuation.resume()
        }
    }
}
