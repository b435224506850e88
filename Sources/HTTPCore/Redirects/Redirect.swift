#if Networking
package import HTTPTypes

/// One step from a request to the next. A hook may change method and address; what has to be left behind follows from them.
package struct Redirect: Hashable, Sendable {
    package let previous: HTTPAddress
    package let previousMethod: HTTPRequest.Method
    package var method: HTTPRequest.Method
    package var address: HTTPAddress
    /// The request goes on without its body and without the fields that describe it.
    package var dropsBody: Bool
    package var credentialFields: Set<String> = []

    package var changesOrigin: Bool { address.origin != previous.origin }

    /// Which of these fields do not follow. Once gone they stay away, even if a later redirect leads back.
    package func strippedFields(of fields: HTTPFields) -> Set<HTTPField.Name> {
        Set(
            fields.map(\.name).filter { name in
                (changesOrigin && name.isCredential(or: credentialFields)) || (dropsBody && Self.describesBody(name))
            })
    }

    /// What goes to the new address.
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
#endif
