#if Networking
import HTTPCore
import OperationsNetworking

/// What is to be fetched, and under which names.
struct FetchList {
    struct Item: Equatable {
        let url: String
        let name: String
        var digest: HTTPDigest?

        /// Items of equal content are loaded once. A digest that is right may stand beside a wrong one.
        var content: Content { Content(url: url, digest: digest) }
    }

    struct Content: Hashable {
        let url: String
        let digest: HTTPDigest?
    }

    /// The mistakes of a list.
    struct Mistakes: Error {
        /// A sentence for each wrong line, in their order.
        var lines: [String] = []
    }

    private(set) var items: [Item] = []
    private var names: Set<String> = []

    /// Of lines of the form `URL [NAME] [sha256:DIGITS]`. Empty lines, and those that begin with `#`, say nothing.
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

    /// Of addresses, named after their paths.
    init(urls: [String]) {
        for url in urls { try? add(url, []) }
    }

    private struct Problem: Error { let text: String }

    private mutating func add(_ url: String, _ details: [String]) throws(Problem) {
        guard let address = HTTPAddress(url) else {
            throw Problem(text: "'\(HTTPAddress.redacted(url))' is no absolute http or https URL")
        }
        var (name, digest): (String?, HTTPDigest?)
        for detail in details {
            if detail.hasPrefix("sha256:") {
                digest = HTTPDigest(sha256: String(detail.dropFirst(7)))
                if digest == nil { throw Problem(text: "'\(detail)' is not sha256: and 64 hexadecimal digits") }
            } else if name == nil {
                do { name = try FileName.checked(detail, url: url) } catch {
                    throw Problem(text: "'\(detail)' cannot be the name of a file in the folder")
                }
            } else {
                throw Problem(text: "'\(detail)' is too much: a line has a URL, a name and a digest")
            }
        }
        if let name, names.contains(name) { throw Problem(text: "the name '\(name)' stands twice") }
        let unique =
            name ?? unused(FileName.sanitised(String(address.path.split(separator: "/").last ?? ""), fallback: "index"))
        names.insert(unique)
        items.append(Item(url: address.textWithCredentials, name: unique, digest: digest))
    }

    /// `a.jpg`, `a-2.jpg`, `a-3.jpg`.
    private func unused(_ name: String) -> String {
        guard names.contains(name) else { return name }
        let dot = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : $0 } ?? name.endIndex
        var number = 2
        while names.contains("\(name[..<dot])-\(number)\(name[dot...])") { number += 1 }
        return "\(name[..<dot])-\(number)\(name[dot...])"
    }
}
#endif
