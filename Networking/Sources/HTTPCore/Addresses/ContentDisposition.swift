/// A parser for the field Content-Disposition (RFC 6266).
package enum ContentDisposition {
    /// Returns the file name that the server sent, without any check of its characters. `filename*` has precedence over
    /// `filename`.
    package static func fileName(_ value: String) -> String? {
        var scanner = FieldScanner(value)
        let parameters = scanner.parameters()
        if let name = parameters["filename*"].flatMap(extended), !name.isEmpty { return name }
        guard let name = parameters["filename"], !name.isEmpty else { return nil }
        return name
    }

    /// Decodes a text `charset'language'percent-encoded` of RFC 8187. The charset must be UTF-8 or ISO-8859-1;
    /// otherwise the function returns nil.
    static func extended(_ value: String) -> String? {
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let bytes = PercentEncoding.decode(parts[2])
        switch parts[0].lowercased() {
        case "utf-8": return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1": return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        default: return nil
        }
    }
}
