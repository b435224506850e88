package import HTTPTypes

extension HTTPFields {
    /// The codings of the body, in lower case and in the order in which the server applied them, without `identity`.
    package var contentCodings: [String] {
        guard let value = self[.contentEncoding] else { return [] }
        let codings = value.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
        return codings.filter { $0 != "identity" }.map(String.init)
    }

    /// A transfer coding other than `chunked`, which no connection removes.
    package var foreignTransferCoding: String? {
        let codings = self[values: .transferEncoding].flatMap { $0.lowercased().split { ", \t".contains($0) } }
        return codings.first { $0 != "chunked" && $0 != "identity" }.map(String.init)
    }

    /// Whether the body is not compressed, according to `Content-Encoding`.
    package var isIdentityCoded: Bool {
        contentCodings.isEmpty
    }
}
