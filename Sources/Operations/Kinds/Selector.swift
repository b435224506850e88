/// The name of a method as a string: `"fetch"`, or `"fetch:"` for a method with a parameter.
///
/// Linux has no Objective-C runtime. A target responds to the selectors that its class declares. See
/// `SelectorResponding`.
public struct Selector: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The selector as text.
    public let name: String

    /// Creates a selector from text.
    public init(_ name: String) { self.name = name }

    /// Creates a selector from a string literal.
    public init(stringLiteral name: String) { self.init(name) }

    public var description: String { name }
}

/// A class whose methods can be called by selector. The class lists the methods:
///
/// ```swift
/// extension Downloader: SelectorResponding {
///     class var methods: [Selector: InvocationMethod] {
///         ["fetchAll": .init(Downloader.fetchAll), "fetch:": .init(Downloader.fetch(from:))]
///     }
/// }
/// ```
public protocol SelectorResponding: AnyObject {
    /// The methods that instances respond to.
    static var methods: [Selector: InvocationMethod] { get }
}

/// A method with at most one parameter, of any target type.
public struct InvocationMethod: Sendable {
    /// Calls the method. Stops the process if the type of the target or the argument does not match.
    let call: @Sendable (_ target: AnyObject, _ argument: Any?) throws -> Any?
    let isVoid: Bool

    /// Creates a method without parameters: `InvocationMethod(Downloader.fetchAll)`.
    public init<Target: AnyObject, Result>(_ method: @escaping @Sendable (Target) -> () throws -> Result) {
        isVoid = Result.self == Void.self
        call = { target, _ in try method(Self.target(target))() }
    }

    /// Creates a method with one parameter: `InvocationMethod(Downloader.fetch(from:))`.
    public init<Target: AnyObject, Argument, Result>(
        _ method: @escaping @Sendable (Target) -> (Argument) throws -> Result
    ) {
        isVoid = Result.self == Void.self
        call = { target, argument in try method(Self.target(target))(Self.argument(argument)) }
    }

    private static func target<Target>(_ target: AnyObject) -> Target {
        guard let target = target as? Target else {
            fatalError("\(type(of: target)) is no \(Target.self), the target of the method")
        }
        return target
    }

    private static func argument<Argument>(_ argument: Any?) -> Argument {
        // `argument as Any` permits nil for an optional parameter.
        if let argument = argument as? Argument ?? (argument as Any) as? Argument { return argument }
        fatalError("the argument \(String(describing: argument)) is no \(Argument.self), the parameter of the method")
    }
}
