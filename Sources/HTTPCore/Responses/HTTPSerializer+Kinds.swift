#if Networking
import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension HTTPSerializer where Value == Data {
    /// The bytes.
    public static var data: Self { Self { body, _ in body } }
}

extension HTTPSerializer where Value == String {
    /// The text, read by the charset of its type, or as UTF-8 if the type has none. Invalid bytes become U+FFFD.
    ///
    /// In an unknown charset the text is read as UTF-8 if it is valid UTF-8. Else the error is `undecodable` with an
    /// `UnknownCharset`.
    public static var text: Self {
        Self { body, response in
            try Charset.text(body, of: response.headerFields[.contentType].flatMap { MediaType($0) })
        }
    }
}

extension HTTPSerializer where Value: Decodable {
    /// A value read from JSON. Each value is read with a decoder that `decoder` makes.
    public static func json(
        _ type: Value.Type = Value.self, decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
    ) -> Self {
        Self(acceptableTypes: ["application/json", "text/json", "*/*+json"], needsBody: true) { body, _ in
            try decoder().decode(type, from: body)
        }
    }

    /// A value read from a property list, XML or binary.
    public static func propertyList(_ type: Value.Type = Value.self) -> Self {
        let types: [MediaRange] = [
            "application/x-plist", "application/x-apple-plist", "application/xml", "text/xml", "*/*+plist",
            "application/x-apple-binary-plist",
        ]
        return Self(acceptableTypes: types, needsBody: true) { body, _ in
            try PropertyListDecoder().decode(type, from: body)
        }
    }
}

extension HTTPSerializer {
    /// The value of the first that accepts the response and can decode it.
    ///
    /// If none does, the error is that of the first one which accepted status and type, else that of the first.
    public static func firstOf(_ serializers: [HTTPSerializer]) -> Self {
        precondition(!serializers.isEmpty, "firstOf needs a serializer")
        // Which types together, for Accept; one that takes all makes it all.
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
#endif
