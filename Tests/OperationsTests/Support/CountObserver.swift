import KeyValueObserving

/// Calls a closure with the new value of `operationCount`.
final class CountObserver: KeyValueObserver, Sendable {
    private let body: @Sendable (Int) -> Void

    init(_ body: @escaping @Sendable (Int) -> Void) { self.body = body }

    func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) { if let count = change?[.newKey] as? Int { body(count) } }
}
