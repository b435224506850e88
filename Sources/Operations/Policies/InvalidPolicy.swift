/// A number that no policy and no limit can have: a programming error.
enum InvalidPolicy: CustomStringConvertible {
    case retries(Int)
    case delay(Duration)
    case factor(Double)
    case period(Duration)
    case limit(Int)
    case capacity(Int)
    case starvationLimit(Int)
    case resource(String, capacity: Int)

    var description: String {
        switch self {
        case .retries(let retries): "the number of retries was \(retries). Use 0 or more; 0 means one attempt."
        case .delay(let delay): "a delay was \(delay). Use zero or more."
        case .factor(let factor): "the factor of the backoff was \(factor). Use 1 or more; 1 keeps the delay constant."
        case .period(let period): "a period was \(period). Use more than zero."
        case .limit(let limit): "a limit was \(limit). Use 1 or more. To start nothing, suspend the queue."
        case .capacity(let capacity): "the capacity of a queue was \(capacity). Use 1 or more, or nil for no capacity."
        case .starvationLimit(let limit): "the starvation limit was \(limit). Use 1 or more, or nil for no limit."
        case .resource(let name, let capacity):
            "the capacity of \(name.inQuotes) was set to \(capacity). Use 0 or more."
        }
    }

    /// Stops the process. Uses `fatalError`, because messages of `precondition` are missing in release builds.
    func stop() -> Never { fatalError("InvalidPolicy: \(description)") }
}
