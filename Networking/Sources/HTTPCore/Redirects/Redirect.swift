package import HTTPTypes

/// A step from one request to the next. A hook may change the method and the address. The dropped fields then depend on
/// the changed values.
package struct Redirect: Hashable, Sendable {
    package let previous: HTTPAddress
    package let previousMethod: HTTPRequest.Method
    package var method: HTTPRequest.Method
    package var address: HTTPAddress
    /// Whether the next request has no body and no fields that describe a body.
    package var dropsBody: Bool
    package var credentialFields: Set<String> = []

    package var changesOrigin: Bool { address.origin != previous.origin }

    /// Returns the names of the fields that the next request does not carry. Later requests do not restore these
    /// fields, even at the original origin.
    package func strippedFields(of fields: HTTPFields) -> Set<HTTPField.Name> {
        Set(
            fields.map(\.name).filter { name in
                (changesOrigin && name.isCredential(or: credentialFields)) || (dropsBody && Self.describesBody(name))
            })
    }

    /// Returns the fields that the next request carries.
    package func remaining(of fields: HTTPFields) -> HTTPFields {
        let stripped = strippedFields(of: fields)
        var remaining = HTTPFields()
        for field in fields where !stripped.contains(field.name) { remaining.append(field) }
        return remaining
    }

    private static func describesBody(_ name: HTTPField.Name) -> Bool {
        let name = name.canonicalName
        return name.hasPrefix("content-")
            || ["digest", "repr-digest", "transfer-encoding", "trailer", "expect", "last-modified"].contains(name)
    }
}
