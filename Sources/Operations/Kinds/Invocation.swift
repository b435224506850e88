/// A method to be called on a target, with or without an argument (rule I4).
public struct Invocation: @unchecked Sendable {
    // Sendable: it only hands target and argument on, to one call on one thread; whether they bear that is the caller's
    // affair, as with every target and action.

    /// The object whose method it is; retained.
    public let target: AnyObject?
    /// The method's name, if it was given by selector.
    public let selector: Selector?
    /// The argument, for a method that takes one.
    public let argument: Any?
    let method: InvocationMethod?

    /// nil when the target does not declare the selector (rule I2).
    public init?(target: Any, selector: Selector, object argument: Any? = nil) {
        let target = target as AnyObject
        guard let declared = (target as? any SelectorResponding).map({ type(of: $0).methods }),
            let method = declared[selector]
        else { return nil }
        self.init(target: target, selector: selector, argument: argument, method: method)
    }

    /// A method without arguments: `Invocation(target: downloader, method: Downloader.fetchAll)`.
    public init<Target: AnyObject, Result>(
        target: Target, method: @escaping @Sendable (Target) -> () throws -> Result
    ) {
        self.init(target: target, selector: nil, argument: nil, method: InvocationMethod(method))
    }

    /// A method with one argument: `Invocation(target: downloader, method: Downloader.fetch(from:), argument: url)`.
    public init<Target: AnyObject, Argument, Result>(
        target: Target, method: @escaping @Sendable (Target) -> (Argument) throws -> Result, argument: Argument
    ) {
        self.init(target: target, selector: nil, argument: argument, method: InvocationMethod(method))
    }

    private init(target: AnyObject?, selector: Selector?, argument: Any?, method: InvocationMethod?) {
        self.target = target
        self.selector = selector
        self.argument = argument
        self.method = method
    }

    /// Calls the method on this thread. nil when it has been spent by a finished operation.
    @discardableResult
    public func invoke() throws -> Any? {
        guard let target, let method else { return nil }
        return try method.call(target, argument)
    }

    /// The same without what it retains.
    var spent: Invocation { Invocation(target: nil, selector: selector, argument: nil, method: nil) }
}
