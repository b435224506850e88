#if Networking
public import HTTPCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// How a client writes the values it sends and reads those that come, unless a request says otherwise (rule N1).
public protocol HTTPCoding: Sendable {
    /// - Throws: What encoding throws.
    func encoded(_ value: some Encodable) throws -> EncodedBody

    /// What reads values of a type.
    func serializer<Value: Decodable & Sendable>(of type: Value.Type) -> HTTPSerializer<Value>
}

/// Values are JSON. Each is written or read with a coder of its own.
public struct JSONCoding: HTTPCoding {
    private let decoder: @Sendable () -> JSONDecoder
    private let encoder: (@Sendable () -> JSONEncoder)?

    /// - Parameters:
    ///   - decoder: Makes the decoder of one value.
    ///   - encoder: Makes the encoder of one value; nil for keys that are sorted, so that equal values are equal bytes.
    public init(
        decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() },
        encoder: (@Sendable () -> JSONEncoder)? = nil
    ) {
        self.decoder = decoder
        self.encoder = encoder
    }

    public func encoded(_ value: some Encodable) throws -> EncodedBody {
        if let encoder { try .json(value, encoder()) } else { try .json(value) }
    }

    public func serializer<Value: Decodable & Sendable>(of type: Value.Type) -> HTTPSerializer<Value> {
        .json(type, decoder: decoder)
    }
}

/// Values are property lists: read in either form, written in XML unless `isBinary`.
public struct PropertyListCoding: HTTPCoding {
    public var isBinary: Bool

    public init(isBinary: Bool = false) { self.isBinary = isBinary }

    public func encoded(_ value: some Encodable) throws -> EncodedBody { try .propertyList(value, binary: isBinary) }

    public func serializer<Value: Decodable & Sendable>(of type: Value.Type) -> HTTPSerializer<Value> {
        .propertyList(type)
    }
}
#endif
