import HTTPTypes

extension HTTPFields {
    /// Creates fields from names and values, without the invalid names.
    init(_ fields: some Sequence<(name: String, value: String)>) {
        self.init()
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { append(HTTPField(name: name, value: value)) }
        }
    }

    /// Returns the first value of the field with this name.
    func first(_ name: String) -> String? {
        HTTPField.Name(name).flatMap { self[fields: $0].first?.value }
    }

    /// Returns the text after the scheme's name in `Authorization`, or nil if the field names another scheme.
    func credentials(of scheme: String) -> String? {
        guard let field = self[.authorization] else { return nil }
        let parts = field.split(separator: " ", maxSplits: 1)
        return parts.count == 2 && parts[0].lowercased() == scheme ? parts[1].trimmed : nil
    }
}
