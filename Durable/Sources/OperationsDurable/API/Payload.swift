import DurableCore
import Foundation

/// The encoding of values as JSON.
package enum Payload {
    private static let encoder = {
        let encoder = JSONEncoder()
        // One form for one value, so that unique keys and comparisons may use the bytes.
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()
    private static let decoder = JSONDecoder()

    /// Returns the JSON of a value. `Void` has no bytes.
    package static func encode(_ value: Any, of subject: String) throws -> [UInt8] {
        if value is Void { return [] }
        guard let value = value as? any Encodable else {
            throw DurableError.invalidValue("the \(subject) is of type \(type(of: value)), which is not Encodable")
        }
        return try encode(value)
    }

    /// Returns the JSON of a value whose type is known. This takes less time than a cast of each value.
    package static func encode(_ value: some Encodable) throws -> [UInt8] { [UInt8](try encoder.encode(value)) }

    /// Returns the value of a JSON text.
    ///
    /// - Throws: `DurableError.undecodable` with the reason.
    package static func decode<Value>(_ type: Value.Type, from bytes: [UInt8], of subject: String) throws -> Value {
        if let nothing = () as? Value { return nothing }
        guard let decodable = type as? any Decodable.Type else {
            throw DurableError.invalidValue("the \(subject) is of type \(type), which is not Decodable")
        }
        do {
            guard let value = try decoder.decode(decodable, from: Data(bytes)) as? Value else {
                throw DurableError.undecodable(subject, reason: "the type differs")
            }
            return value
        } catch let error as DecodingError { throw DurableError.undecodable(subject, reason: error.reason) }
    }

    /// Whether the type can be stored.
    static func supports(_ type: Any.Type) -> Bool { type == Void.self || type is any (Encodable & Decodable).Type }
}

extension DecodingError {
    fileprivate var reason: String {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            "\(context.debugDescription) at '\(context.path)'"
        case .keyNotFound(let key, let context): "the key '\(key.stringValue)' is missing at '\(context.path)'"
        @unknown default: "\(self)"
        }
    }
}

extension DecodingError.Context {
    fileprivate var path: String { codingPath.map(\.stringValue).joined(separator: ".") }
}
