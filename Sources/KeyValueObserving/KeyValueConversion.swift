/// A type whose values key-value coding can make from values of other types, such as numbers.
package protocol KeyValueConvertible {
    init?(keyValue: Any)
}

/// The conversions that key-value coding applies to a value whose type is not the property's type.
///
/// A number is converted to another numeric type if the conversion is exact; for floating-point targets, another floating-point
/// value may be rounded. The numbers 0 and 1 are converted to Booleans and back. Raw values are converted to values of
/// raw-representable types.
enum KeyValueConversion {
    static func convert<Value>(_ value: Any, to type: Value.Type) -> Value? {
        if let optional = type as? any OptionalValue.Type {
            return convertAny(value, to: optional.wrappedType) as? Value
        }
        return convertAny(value, to: type) as? Value
    }

    private static func convertAny(_ value: Any, to type: any Any.Type) -> Any? {
        switch type {
        case let type as any KeyValueConvertible.Type: type.init(keyValue: value)
        case is Bool.Type: boolean(value)
        case let type as any BinaryInteger.Type: integer(value, type)
        case let type as any BinaryFloatingPoint.Type: real(value, type)
        case let type as any RawRepresentable.Type: enumerated(value, type)
        default: nil
        }
    }

    private static func boolean(_ value: Any) -> Bool? {
        guard let number = integer(value, Int.self) as? Int, number == 0 || number == 1 else { return nil }
        return number == 1
    }

    private static func integer<Number: BinaryInteger>(_ value: Any, _ type: Number.Type) -> Any? {
        switch value {
        case let value as Bool: Number(exactly: value ? 1 : 0)
        case let value as any BinaryInteger: Number(exactly: value)
        case let value as any BinaryFloatingPoint: Number(exactly: Double(value))
        default: nil
        }
    }

    private static func real<Number: BinaryFloatingPoint>(_ value: Any, _ type: Number.Type) -> Any? {
        switch value {
        case let value as Bool: Number(value ? 1 : 0)
        case let value as any BinaryFloatingPoint: Number(value)
        case let value as any BinaryInteger: Number(exactly: value)
        default: nil
        }
    }

    private static func enumerated<Value: RawRepresentable>(_ value: Any, _ type: Value.Type) -> Any? {
        guard let raw = value as? Value.RawValue ?? convertAny(value, to: Value.RawValue.self) as? Value.RawValue else {
            return nil
        }
        return Value(rawValue: raw)
    }
}
