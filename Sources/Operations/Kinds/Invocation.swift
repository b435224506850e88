/// A call of a method on a target, with or without an argument.
public struct Invocation: @unchecked Sendable {
    // Sendable: it only passes target and argument to one call on one thread. The caller is responsible for their thread
    // safety, as with every target and action.

    /// The object that has the method. The invocation retains it.
    public let target: AnyObject?
    /// The name of the method, if it was given by selector.
    public let selector: Selector?
    /// The argument, for a method that has a parameter.
    public let argument: Any?
    let method: InvocationMethod?

    /// Creates a call by selector; nil when the target does not declare the selector. See `SelectorResponding`.
    public init?(target: Any, selector: Selector, object argument: Any? = nil) {
        let target = target as AnyObject
        guard let declared = (target as? any SelectorResponding).map({ type(of: $0).methods }),
            let method = declared[selector]
        else { return nil }
        self.init(target: target, selector: selector, argument: argument, method: method)
    }

    /// Creates a call of a method without parameters: `Invocation(target: downloader, method: Downloader.fetchAll)`.
    public init<Target: AnyObject, Result>(
        target: Target, method: @escaping @Sendable (Target) -> () throws -> Result
    ) {
        self.init(target: target, selector: nil, argument: nil, method: InvocationMethod(method))
    }

    /// Creates a call of a method with one parameter: `Invocation(target: downloader, method: Downloader.fetch(from:),
    /// argument: url)`.
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

    /// Calls the method on this thread, and returns its result. A finished operation has released the target: then the
    /// result is nil.
    ///
    /// - Throws: The error of the method.
    @discardableResult
    public func invoke() throws -> Any? {
        guard let target, let method else { return nil }
        return try method.call(target, argument)
    }

    /// The invocation without the objects that it retains.
    var spent: Invocation { Invocation(target: nil, selector: selector, argument: nil, method: nil) }
}
