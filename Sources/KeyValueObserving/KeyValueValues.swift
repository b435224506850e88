/// The values of a property as an asynchronous sequence: the present value, then one value for each change.
///
/// The sequence ends when the object is deallocated or when the reading task is cancelled. The sequence does not keep the object
/// alive.
public struct KeyValueValues<Value: Sendable>: AsyncSequence, Sendable {
    /// The policy for values that the iterator has not consumed yet.
    public typealias BufferingPolicy = AsyncStream<Value>.Continuation.BufferingPolicy

    private let begin: @Sendable () -> AsyncStream<Value>

    init(_ begin: @escaping @Sendable () -> AsyncStream<Value>) { self.begin = begin }

    /// Starts an observation. Each iterator has its own observation and values.
    public func makeAsyncIterator() -> AsyncStream<Value>.Iterator { begin().makeAsyncIterator() }
}

extension KeyValueObservable {
    /// Returns the values of a property: the present value, then one value for each change.
    ///
    /// By default, a slow reader receives only the newest value.
    ///
    /// - Parameters:
    ///   - keyPath: The key path of the property.
    ///   - bufferingPolicy: The policy for values that the iterator has not consumed yet.
    public func values<Value: Sendable>(
        for keyPath: KeyPath<Self, Value>,
        bufferingPolicy: KeyValueValues<Value>.BufferingPolicy = .bufferingNewest(1)
    ) -> KeyValueValues<Value> {
        let source = Source(object: self, path: keyPath)
        return KeyValueValues { source.stream(bufferingPolicy) }
    }
}

/// A weak reference to the object, and the property.
private final class Source<Object: KeyValueObservable, Value: Sendable>: @unchecked Sendable {
    // Sendable: the properties are constant, and `observe` can be called from any thread.
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
            if let value = change.pointee.new { continuation.yield(value as! Value) }
        }
        withExtendedLifetime(object) { observation.whenObjectIsGone { continuation.finish() } }
        let token = NSKeyValueObservation(observation)
        continuation.onTermination = { _ in token.invalidate() }
        return stream
    }
}
