/// The values of a property, as an asynchronous sequence: the present one, then one for each change.
///
/// It ends when the object is gone, or the task that reads it is cancelled. It does not keep the object alive.
public struct KeyValueValues<Value: Sendable>: AsyncSequence, Sendable {
    /// What becomes of values that nobody has taken yet.
    public typealias BufferingPolicy = AsyncStream<Value>.Continuation.BufferingPolicy

    private let begin: @Sendable () -> AsyncStream<Value>

    init(_ begin: @escaping @Sendable () -> AsyncStream<Value>) { self.begin = begin }

    /// The observing begins here. Each iterator has values of its own.
    public func makeAsyncIterator() -> AsyncStream<Value>.Iterator { begin().makeAsyncIterator() }
}

extension KeyValueObservable {
    /// The values of a property: the present one, then one for each change (rule K8).
    ///
    /// Who is slow gets the newest value only, unless the buffering policy says otherwise.
    public func values<Value: Sendable>(
        for keyPath: KeyPath<Self, Value>,
        bufferingPolicy: KeyValueValues<Value>.BufferingPolicy = .bufferingNewest(1)
    ) -> KeyValueValues<Value> {
        let source = Source(object: self, path: keyPath)
        return KeyValueValues { source.stream(bufferingPolicy) }
    }
}

/// The object and its property, not keeping the object alive.
private final class Source<Object: KeyValueObservable, Value: Sendable>: @unchecked Sendable {
    // Sendable: constants; what is done with the object is what `observe` does.
    private weak var object: Object?
    private let path: KeyPath<Object, Value>

    init(object: Object, path: KeyPath<Object, Value>) {
        self.object = object
        self.path = path
    }

    func stream(_ policy: AsyncStream<Value>.Continuation.BufferingPolicy) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: policy)
        guard let object else {
            continuation.finish()
            return stream
        }
        let observation = object.startObserving(path, [.initial, .new]) { _, change in
            if let value = change.new { continuation.yield(value as! Value) }
        }
        observation.whenObjectIsGone { continuation.finish() }
        let token = NSKeyValueObservation(observation)
        continuation.onTermination = { _ in token.invalidate() }
        return stream
    }
}
