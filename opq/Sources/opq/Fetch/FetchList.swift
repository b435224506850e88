#if Fetch
import HTTPCore
import OperationsNetworking

/// The items to fetch, with their file names.
struct FetchList {
    struct Item: Equatable {
        let url: String
        let name: String
        var digest: HTTPDigest?

        /// The identity of the content. Items with equal content are loaded once. Items with one URL may have a correct and a
        /// wrong digest.
        var content: Content { Content(url: url, digest: digest) }
    }

    struct Content: Hashable {
        let url: String
        let digest: HTTPDigest?
    }

    /// The mistakes of a list.
    struct Mistakes: Error {
        /// One sentence for each wrong line, in order.
        var lines: [String] = []
    }

    private(set) var items: [Item] = []
    private var names: Set<String> = []
    /// The next number to try for each name that is taken.
    private var nextNumbers: [String: Int] = [:]

    /// Creates a list from lines of the form `URL [NAME] [sha256:DIGITS]`. Empty lines and lines that begin with `#` are
    /// ignored.
    ///
    /// - Throws: All mistakes together.
    init(lines text: String) throws(Mistakes) {
        var mistakes = Mistakes()
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard let url = words.first, !url.hasPrefix("#") else { continue }
            do throws(Problem) { try add(String(url), words.dropFirst().map(String.init)) } catch {
                mistakes.lines.append("line \(index + 1): \(error.text)")
            }
        }
        if !mistakes.lines.isEmpty { throw mistakes }
    }

    /// Creates a list from addresses. The files have the names of the paths.
    init(urls: [String]) {
        for url in urls { try? add(url, []) }
    }

    private struct Problem: Error { let text: String }

    private mutating func add(_ url: String, _ details: [String]) throws(Problem) {
        guard let address = HTTPAddress(url) else {
            throw Problem(text: "'\(HTTPAddress.redacted(url))' is not an absolute http or https URL")
        }
        var (name, digest): (String?, HTTPDigest?)
        for detail in details {
            if detail.hasPrefix("sha256:") {
                digest = HTTPDigest(sha256: String(detail.dropFirst(7)))
                if digest == nil { throw Problem(text: "'\(detail)' is not sha256: and 64 hexadecimal digits") }
            } else if name == nil {
                do { name = try DownloadFileName.checked(detail, url: url) } catch {
                    throw Problem(text: "'\(detail)' cannot be the name of a file in the folder")
                }
            } else {
                throw Problem(text: "'\(detail)' is one part too many: a line has a URL, a name and a digest")
            }
        }
        if let name, names.contains(name) { throw Problem(text: "the name '\(name)' appears twice") }
        let unique =
            name
            ?? unused(
                DownloadFileName.sanitized(String(address.path.split(separator: "/").last ?? ""), fallback: "index"))
        names.insert(unique)
        items.append(Item(url: address.textWithCredentials, name: unique, digest: digest))
    }

    /// Returns the name with a number, if the name is taken: `a.jpg`, `a-2.jpg`, `a-3.jpg`.
    private mutating func unused(_ name: String) -> String {
        guard names.contains(name) else { return name }
        let dot = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : $0 } ?? name.endIndex
        var number = nextNumbers[name] ?? 2
        while names.contains("\(name[..<dot])-\(number)\(name[dot...])") { number += 1 }
        nextNumbers[name] = number + 1
        return "\(name[..<dot])-\(number)\(name[dot...])"
    }
}
#endif
