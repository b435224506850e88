import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension HTTPSerializer where Value == Data {
    /// Returns the body's bytes.
    public static var data: Self { Self { body, _ in body } }
}

extension HTTPSerializer where Value == String {
    /// Decodes the body as text in the charset of the response's Content-Type, or as UTF-8 when the type names no
    /// charset. Each invalid byte sequence becomes U+FFFD.
    ///
    /// If the charset is unknown, the serializer decodes the body as UTF-8 when the body is valid UTF-8. Otherwise the
    /// serializer throws `HTTPError.Reason.undecodable` with an `UnknownCharset`.
    public static var text: Self {
        Self { body, response in
            try Charset.text(body, of: response.headerFields[.contentType].flatMap { MediaType($0) })
        }
    }
}

extension HTTPSerializer where Value: Decodable {
    /// Decodes a value from JSON. The serializer calls `decoder` once for each value.
    ///
    /// If the value is optional, a response without a body, such as 204, gives nil.
    public static func json(
        _ type: Value.Type = Value.self, decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
    ) -> Self {
        let types: [MediaRange] = ["application/json", "text/json", "*/*+json"]
        return Self(acceptableTypes: types, needsBody: missing == nil) { body, _ in
            if body.isEmpty, let missing { return missing }
            return try decoder().decode(type, from: body)
        }
    }

    /// Decodes a value from an XML or binary property list. If the value is optional, a response without a body gives nil.
    public static func propertyList(_ type: Value.Type = Value.self) -> Self {
        let types: [MediaRange] = [
            "application/x-plist", "application/x-apple-plist", "application/xml", "text/xml", "*/*+plist",
            "application/x-apple-binary-plist",
        ]
        return Self(acceptableTypes: types, needsBody: missing == nil) { body, _ in
            if body.isEmpty, let missing { return missing }
            return try PropertyListDecoder().decode(type, from: body)
        }
    }

    /// The value for a response without a body: nil if `Value` is optional, otherwise no value.
    private static var missing: Value? {
        (Value.self as? any ExpressibleByNilLiteral.Type).flatMap { $0.init(nilLiteral: ()) as? Value }
    }
}

extension HTTPSerializer {
    /// Returns the value of the first serializer that accepts the response and decodes its body.
    ///
    /// If every serializer throws, the result is the error of the first serializer that accepted the response's status
    /// and type. If no serializer accepted them, the result is the first serializer's error.
    ///
    /// - Precondition: `serializers` is not empty.
    public static func firstOf(_ serializers: [HTTPSerializer]) -> Self {
        precondition(!serializers.isEmpty, "firstOf needs at least one serializer")
        // The field Accept lists the types of all serializers. A serializer without types accepts every type, so that
        // the field is `*/*`.
        let takesAll = serializers.contains { $0.acceptableTypes.isEmpty }
        var compound = Self(acceptableStatuses: nil) { body, response in
            var (refusal, failure): (HTTPError?, HTTPError?) = (nil, nil)
            for serializer in serializers {
                do throws(HTTPError) {
                    return try serializer.value(body, response, url: "")
                } catch {
                    switch error.reason {
                    case .unacceptableStatus, .unacceptableType: refusal = refusal ?? error
                    default: failure = failure ?? error
                    }
                }
            }
            throw (failure ?? refusal)!
        }
        compound.accepted = takesAll ? [] : serializers.flatMap(\.acceptableTypes)
        return compound
    }
}
