#if Networking
import HTTPTypes

extension HTTPFields {
    /// Leaves out what is no field.
    init(_ fields: some Sequence<(name: String, value: String)>) {
        self.init()
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { append(HTTPField(name: name, value: value)) }
        }
    }

    /// The first value of a field, by name.
    func first(_ name: String) -> String? {
        HTTPField.Name(name).flatMap { self[fields: $0].first?.value }
    }

    /// What stands behind the scheme's name in `Authorization`; nil if that names another scheme.
    func credentials(of scheme: String) -> String? {
        guard let field = self[.authorization] else { return nil }
        let parts = field.split(separator: " ", maxSplits: 1)
        return parts.count == 2 && parts[0].lowercased() == scheme ? parts[1].trimmed : nil
    }
}
#endif
