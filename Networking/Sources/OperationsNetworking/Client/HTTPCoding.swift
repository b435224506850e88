public import HTTPCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The default coding of a client: writes the values of requests and reads those of responses.
public protocol HTTPCoding: Sendable {
    /// Returns the body for a value.
    ///
    /// - Throws: The error of encoding the value.
    func encoded(_ value: some Encodable) throws -> EncodedBody

    /// Returns the serializer for values of a type.
    func serializer<Value: Decodable & Sendable>(of type: Value.Type) -> HTTPSerializer<Value>
}

/// A coding of values as JSON. Each value gets a new encoder or decoder.
public struct JSONCoding: HTTPCoding {
    private let decoder: @Sendable () -> JSONDecoder
    private let encoder: (@Sendable () -> JSONEncoder)?

    /// Creates a coding.
    ///
    /// - Parameters:
    ///   - decoder: Makes the decoder for each value.
    ///   - encoder: Makes the encoder for each value. With nil, keys are sorted, so that equal values have equal bytes.
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

/// A coding of values as property lists. Reads both formats, and writes XML unless `isBinary` is true.
public struct PropertyListCoding: HTTPCoding {
    /// Whether values are written in the binary format.
    public var isBinary: Bool

    /// Creates a coding.
    public init(isBinary: Bool = false) { self.isBinary = isBinary }

    public func encoded(_ value: some Encodable) throws -> EncodedBody { try .propertyList(value, binary: isBinary) }

    public func serializer<Value: Decodable & Sendable>(of type: Value.Type) -> HTTPSerializer<Value> {
        .propertyList(type)
    }
}
