#if Networking
package import HTTPTypes

/// Names under which a download may be stored: one component of a path, and no more (rule D1).
package enum FileName {
    /// What Linux allows, in bytes of UTF-8.
    package static let maximumLength = 255

    /// Whether a file of this name is stored in the folder one asks for, and nowhere else.
    package static func isUsable(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".." && name.utf8.count <= maximumLength
            && name.unicodeScalars.allSatisfy { !isForbidden($0) }
    }

    /// The name itself. Throws `HTTPError.Reason.unusableName` for one that is not usable as it is.
    package static func checked(_ name: String, url: String) throws(HTTPError) -> String {
        guard isUsable(name) else { throw HTTPError(.unusableName(name), url: url) }
        return name
    }

    /// A usable name that resembles this one, which a server may have chosen; `fallback` where nothing is left. Directories in
    /// front are dropped, with either slash, and dots: shells and other programs read hidden files. Names that Windows
    /// reserves are left alone.
    package static func sanitised(_ name: String, fallback: String = "download") -> String {
        let last = name.split(omittingEmptySubsequences: true) { $0 == "/" || $0 == "\\" }.last ?? ""
        let scalars = last.unicodeScalars.filter { !isForbidden($0) }
        let tail = scalars.drop { $0.properties.isWhitespace || $0 == "." }
        let end = tail.lastIndex { !$0.properties.isWhitespace }.map { tail.index(after: $0) } ?? tail.startIndex
        let clean = shortened(String(String.UnicodeScalarView(tail[..<end])))
        return isUsable(clean) ? clean : fallback
    }

    /// What a response is to be called, by its Content-Disposition, else by the last part of the address.
    package static func suggested(
        by fields: HTTPFields, at address: HTTPAddress, fallback: String = "download"
    ) -> String {
        if let name = fields[values: .contentDisposition].lazy.compactMap(ContentDisposition.fileName).first {
            let clean = sanitised(name, fallback: "")
            if !clean.isEmpty { return clean }
        }
        let last = address.path.split(separator: "/").last ?? ""
        return sanitised(String(decoding: PercentEncoding.decode(last), as: UTF8.self), fallback: fallback)
    }

    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        // Line separators, and the marks that write a name backwards, so that `gpj.exe` looks like something else.
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format: (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
        default: scalar == "/" || scalar == "\\"
        }
    }

    /// Cut in front of the extension, between characters.
    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > maximumLength else { return name }
        var suffix = ""
        if let dot = name.lastIndex(of: "."), dot != name.startIndex, name[dot...].utf8.count <= 20 {
            suffix = String(name[dot...])
        }
        var stem = name.dropLast(suffix.count)
        // A character may be as long as a text; one that does not fit is left out.
        while stem.utf8.count + suffix.utf8.count > maximumLength {
            let excess = stem.utf8.count + suffix.utf8.count - maximumLength
            stem = stem.dropLast(max(1, excess / (stem.last?.utf8.count ?? 1) / 4))
        }
        return stem + suffix
    }
}
#endif
