/// Names for the files of downloads. A usable name is exactly one component of a path.
public enum DownloadFileName {
    /// The maximum length of a file name on Linux, in bytes of UTF-8.
    public static let maximumLength = 255

    /// Whether a file with this name is always stored in the requested folder and not elsewhere.
    public static func isUsable(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".." && name.utf8.count <= maximumLength
            && name.unicodeScalars.allSatisfy { !isForbidden($0) }
    }

    /// Returns the name, or throws `HTTPError.Reason.unusableName` if the name is not usable.
    public static func checked(_ name: String, url: String) throws(HTTPError) -> String {
        guard isUsable(name) else { throw HTTPError(.unusableName(name), url: url) }
        return name
    }

    /// Returns a usable name that is similar to `name`, which can come from a server. Returns `fallback` if no usable
    /// character remains.
    ///
    /// The function removes directories, with slashes or backslashes. The function also removes leading dots, because a
    /// leading dot hides the file. Names that Windows reserves remain unchanged.
    public static func sanitized(_ name: String, fallback: String = "download") -> String {
        let last = name.split(omittingEmptySubsequences: true) { $0 == "/" || $0 == "\\" }.last ?? ""
        let scalars = last.unicodeScalars.filter { !isForbidden($0) }
        let tail = scalars.drop { $0.properties.isWhitespace || $0 == "." }
        let end = tail.lastIndex { !$0.properties.isWhitespace }.map { tail.index(after: $0) } ?? tail.startIndex
        let clean = shortened(String(String.UnicodeScalarView(tail[..<end])))
        return isUsable(clean) ? clean : fallback
    }

    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        // Line separators are forbidden, and so are the marks that reverse the direction of text. Such a mark can
        // disguise `gpj.exe`.
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format: (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
        default: scalar == "/" || scalar == "\\"
        }
    }

    /// Shortens the part before the extension, at a boundary between characters.
    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > maximumLength else { return name }
        var suffix = ""
        if let dot = name.lastIndex(of: "."), dot != name.startIndex, name[dot...].utf8.count <= 20 {
            suffix = String(name[dot...])
        }
        var stem = name.dropLast(suffix.count)
        // One character can be as long as a text, so the loop can remove more than the excess.
        while stem.utf8.count + suffix.utf8.count > maximumLength {
            let excess = stem.utf8.count + suffix.utf8.count - maximumLength
            stem = stem.dropLast(max(1, excess / (stem.last?.utf8.count ?? 1) / 4))
        }
        return stem + suffix
    }
}
