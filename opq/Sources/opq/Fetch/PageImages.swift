#if Fetch
import HTTPCore

/// The images of an HTML page: the `src` of its `img` elements, resolved, each once, in the order of the page.
enum PageImages {
    static func urls(in html: String, at page: String) -> [String] {
        guard let address = HTTPAddress(page) else { return [] }
        var base = address
        var (urls, seen): ([String], Set<String>) = ([], [])
        for tag in tags(in: html) {
            if tag.name == "base", let link = tag.attributes["href"], let found = address.resolving(link) {
                base = found
            }
            guard tag.name == "img", let source = tag.attributes["src"], let found = base.resolving(source) else {
                continue
            }
            let url = found.withoutFragment.description
            if seen.insert(url).inserted { urls.append(url) }
        }
        return urls
    }

    private struct Tag {
        let name: Substring
        let attributes: [String: String]
    }

    /// Returns the start tags outside of comments. Invalid HTML is skipped.
    private static func tags(in html: String) -> [Tag] {
        var tags: [Tag] = []
        var rest = html[...]
        while let start = rest.firstIndex(of: "<") {
            rest = rest[rest.index(after: start)...]
            if rest.hasPrefix("!--") {
                guard let end = rest.firstRange(of: "-->") else { break }
                rest = rest[end.upperBound...]
                continue
            }
            let name = rest.prefix { $0.isLetter }
            guard !name.isEmpty else { continue }
            rest = rest[name.endIndex...]
            tags.append(Tag(name: name.lowercased()[...], attributes: attributes(&rest)))
        }
        return tags
    }

    private static func attributes(_ rest: inout Substring) -> [String: String] {
        var attributes: [String: String] = [:]
        while true {
            rest = rest.drop { $0.isWhitespace || $0 == "/" }
            guard let first = rest.first, first != ">", first != "<" else { return attributes }
            let name = rest.prefix { !$0.isWhitespace && !"=>/<".contains($0) }
            rest = rest[name.endIndex...].drop { $0.isWhitespace }
            // Skip a character that begins no attribute, such as a second `=`.
            if name.isEmpty, rest.first != "=" { rest = rest.dropFirst() }
            guard rest.first == "=" else { continue }
            rest = rest.dropFirst().drop { $0.isWhitespace }
            let value: Substring
            if let quote = rest.first, quote == "\"" || quote == "'" {
                value = rest.dropFirst().prefix { $0 != quote }
                rest = rest[value.endIndex...].dropFirst()
            } else {
                value = rest.prefix { !$0.isWhitespace && $0 != ">" }
                rest = rest[value.endIndex...]
            }
            if attributes[name.lowercased()] == nil { attributes[name.lowercased()] = unescaped(value) }
        }
    }

    /// Replaces the entities that are common in addresses.
    private static func unescaped(_ text: Substring) -> String {
        String(text).replacing("&quot;", with: "\"").replacing("&#39;", with: "'").replacing("&lt;", with: "<")
            .replacing("&gt;", with: ">").replacing("&amp;", with: "&")
    }
}
#endif
