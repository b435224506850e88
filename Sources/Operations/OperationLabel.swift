/// The parts of the text that names an operation. The text is made when it is read, and the operation is not kept.
struct OperationLabel: Sendable, CustomStringConvertible {
    let type: Operation.Type
    let name: String?
    private let address: UInt

    /// Reads the operation's name, which may be overridden: no lock is held.
    init(of operation: Operation) {
        type = Swift.type(of: operation)
        name = operation.name
        address = UInt(bitPattern: Unmanaged.passUnretained(operation).toOpaque())
    }

    /// The type, and the name or the address.
    var description: String { "\(typeName) \(name.map { $0.inQuotes } ?? addressInHex)" }

    /// The name, or the type if there is no name.
    var shortName: String { name ?? typeName }

    /// The type without generic arguments, which distinguish nothing beside a name.
    private var typeName: String { String("\(type)".prefix { $0 != "<" }) }

    var addressInHex: String { "0x" + String(address, radix: 16) }
}
