/// An error in a name, a path of names, a value or an observer.
public enum KeyValueError: Error, Equatable, CustomStringConvertible {
    /// The class has registered no property of this name. `nearest` holds similar registered names.
    case unknownKey(class: String, key: String, nearest: [String])
    /// The property is read-only.
    case readOnly(class: String, key: String)
    /// The type of the value does not fit the property.
    case wrongType(class: String, key: String, expected: String, found: String)
    /// The property holds no observable object, so the path cannot continue after it.
    case noObject(class: String, key: String, path: String)
    /// This observer does not observe this path.
    case notObserving(observer: String, class: String, path: String)

    /// A description of the error, with similar names or a remedy where possible.
    public var description: String {
        switch self {
        case .unknownKey(let type, let key, let nearest):
            let remedy =
                nearest.isEmpty
                ? "register it in keyValueKeys, which is empty" : "did you mean \(Self.list(nearest))?"
            return "\(type) has no key '\(key)'; \(remedy)"
        case .readOnly(let type, let key): return "'\(key)' of \(type) is read-only"
        case .wrongType(let type, let key, let expected, let found):
            return "'\(key)' of \(type) is of type \(expected), so it cannot be set to a value of type \(found)"
        case .noObject(let type, let key, let path):
            return "the path '\(path)' cannot continue after '\(key)' of \(type), whose value is not KeyValueObservable"
        case .notObserving(let observer, let type, let path):
            return "\(observer) does not observe '\(path)' of this \(type); add and remove each observer in pairs"
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

/// Stops the process if `body` throws. The functions that do not throw use it.
func stopOnKeyValueError<Result>(_ body: () throws(KeyValueError) -> Result) -> Result {
    do { return try body() } catch { fatalError(error.description) }
}
