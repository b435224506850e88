// `isAsynchronous` and `isConcurrent` are two names of one property, and a subclass may override either (rule L7). Each
// default reads the other name, which may be overridden. `askedName` stops the second default from reading the first name
// again.
extension Operation {
    final func followedIsConcurrent() -> Bool { asking { (self as any ConcurrentNamed).isConcurrentByName } }

    final func followedIsAsynchronous() -> Bool { asking { isAsynchronous } }

    private final func asking(_ other: () -> Bool) -> Bool {
        let context = ThreadContext.current
        guard context.askedName != ObjectIdentifier(self) else { return false }
        let outer = context.askedName
        context.askedName = ObjectIdentifier(self)
        defer { context.askedName = outer }
        return other()
    }
}

/// Reads the deprecated name without a warning.
private protocol ConcurrentNamed {
    var isConcurrentByName: Bool { get }
}

extension Operation: ConcurrentNamed {
    @available(*, deprecated)
    var isConcurrentByName: Bool { isConcurrent }
}
