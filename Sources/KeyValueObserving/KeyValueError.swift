/// What is wrong with a name, a path of names, a value or an observer.
public enum KeyValueError: Error, Equatable, CustomStringConvertible {
    /// The class has registered no property of this name. `nearest`: registered names that it may have been meant for.
    case unknownKey(class: String, key: String, nearest: [String])
    /// The property can only be read.
    case readOnly(class: String, key: String)
    /// The value is not of the property's type.
    case wrongType(class: String, key: String, expected: String, found: String)
    /// The property holds no object that takes part in observing, so the path cannot go on behind it.
    case noObject(class: String, key: String, path: String)
    /// This observer does not observe this path.
    case notObserving(observer: String, class: String, path: String)

    public var description: String {
        switch self {
        case .unknownKey(let type, let key, let nearest):
            let mend =
                nearest.isEmpty
                ? "\(type) has registered no keys; see keyValueKeys" : "did you mean \(Self.list(nearest))?"
            return "\(type) has no key '\(key)'; \(mend)"
        case .readOnly(let type, let key): return "'\(key)' of \(type) can only be read"
        case .wrongType(let type, let key, let expected, let found):
            return "'\(key)' of \(type) is of type \(expected), and cannot be set to a value of type \(found)"
        case .noObject(let type, let key, let path):
            return "the path '\(path)' cannot go on behind '\(key)' of \(type), which is not KeyValueObservable"
        case .notObserving(let observer, let type, let path):
            return "\(observer) does not observe '\(path)' of this \(type); remove each observer as often as added"
        }
    }

    private static func list(_ names: [String]) -> String {
        let quoted = names.map { "'\($0)'" }
        return quoted.count < 2 ? quoted.joined() : quoted.dropLast().joined(separator: ", ") + " or " + quoted.last!
    }
}

extension KeyValueError {
    static func unknown(_ key: String, in type: any KeyValueObservable.Type) -> KeyValueError {
        .unknownKey(
            class: "\(type)", key: key, nearest: nearestNames(to: key, among: KeyTable.of(type).keys.map(\.name)))
    }
}

/// Stops the process where an error was not asked for.
func stopOnKeyValueError<Result>(_ body: () throws(KeyValueError) -> Result) -> Result {
    do { return try body() } catch { fatalError(error.description) }
}
