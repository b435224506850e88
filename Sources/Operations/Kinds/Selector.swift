/// The name of a method, written as a string: `"fetch"`, or `"fetch:"` with an argument.
///
/// There is no Objective-C runtime here; what a target responds to is what it declares, see `SelectorResponding`.
public struct Selector: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let name: String

    public init(_ name: String) { self.name = name }

    public init(stringLiteral name: String) { self.init(name) }

    public var description: String { name }
}

/// A class whose methods can be invoked by selector. It lists them:
///
///     final class Downloader: SelectorResponding {
///         class var methods: [Selector: InvocationMethod] {
///             ["fetchAll": .init(Downloader.fetchAll), "fetch:": .init(Downloader.fetch(from:))]
///         }
///     }
public protocol SelectorResponding: AnyObject {
    /// What instances respond to.
    static var methods: [Selector: InvocationMethod] { get }
}

/// One method with zero or one argument, of any target type.
public struct InvocationMethod: Sendable {
    /// Calls the method. Traps when target or argument are not of the method's types.
    let call: @Sendable (_ target: AnyObject, _ argument: Any?) throws -> Any?
    let takesArgument: Bool
    let isVoid: Bool

    /// A method without arguments: `InvocationMethod(Downloader.fetchAll)`.
    public init<Target: AnyObject, Result>(_ method: @escaping @Sendable (Target) -> () throws -> Result) {
        takesArgument = false
        isVoid = Result.self == Void.self
        call = { target, _ in try method(Self.target(target))() }
    }

    /// A method with one argument: `InvocationMethod(Downloader.fetch(from:))`.
    public init<Target: AnyObject, Argument, Result>(
        _ method: @escaping @Sendable (Target) -> (Argument) throws -> Result
    ) {
        takesArgument = true
        isVoid = Result.self == Void.self
        call = { target, argument in try method(Self.target(target))(Self.argument(argument)) }
    }

    private static func target<Target>(_ target: AnyObject) -> Target {
        guard let target = target as? Target else {
            fatalError("\(type(of: target)) is not the method's \(Target.self)")
        }
        return target
    }

    private static func argument<Argument>(_ argument: Any?) -> Argument {
        // `argument as Any` lets an optional parameter take nil.
        if let argument = argument as? Argument ?? (argument as Any) as? Argument { return argument }
        fatalError("the argument \(String(describing: argument)) is not the method's \(Argument.self)")
    }
}
