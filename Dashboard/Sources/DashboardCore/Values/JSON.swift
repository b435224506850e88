/// A value of JSON. Objects keep the order of their members.
package indirect enum JSON: Sendable, Equatable {
    case null
    case boolean(Bool)
    case number(Int)
    /// A number with at most three decimals; null unless it is finite.
    case decimal(Double)
    case text(String)
    case list([JSON])
    case object([Member])

    package struct Member: Sendable, Equatable {
        package var name: String
        package var value: JSON
    }

    package static func members(_ members: KeyValuePairs<String, JSON>) -> JSON {
        .object(members.map { Member(name: $0.key, value: $0.value) })
    }

    package init(_ text: String?) { self = text.map(JSON.text) ?? .null }
    package init(_ number: Int?) { self = number.map(JSON.number) ?? .null }
    package init(_ number: Double?) { self = number.map(JSON.decimal) ?? .null }

    /// The value of a member of an object.
    package subscript(_ name: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The value on one line, without a line feed.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    private func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .boolean(let value): bytes += (value ? "true" : "false").utf8
        case .number(let value): bytes += String(value).utf8
        case .decimal(let value):
            let isSmall = value.isFinite && value.magnitude < 1e12
            bytes += (isSmall ? "\((value * 1000).rounded() / 1000)" : "null").utf8
        case .text(let value): Self.write(value, to: &bytes)
        case .list(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.write(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            // A reader that takes JSON for markup finds no tag.
            case 0..<32, 127, UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"):
                bytes += "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
