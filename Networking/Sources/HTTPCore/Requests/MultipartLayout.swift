#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The encoded multipart form: the pieces in the order of sending, and their total length.
package struct MultipartLayout: Hashable, Sendable {
    package enum Segment: Hashable, Sendable {
        /// A piece of the form.
        case bytes(Data)
        /// The first `length` bytes of the file. If the file has become shorter, the request fails.
        case file(path: String, length: Int64)

        package var length: Int64 {
            switch self {
            case .bytes(let data): Int64(data.count)
            case .file(_, let length): length
            }
        }
    }

    package let contentType: String
    package let contentLength: Int64
    /// The pieces. No piece is empty, and no two pieces of bytes are adjacent.
    package let segments: [Segment]

    /// Encodes the form. The initializer calls `lengthOfFile` for each file, and escapes invalid characters in names.
    ///
    /// - Throws: `HTTPError.Reason.invalidHeader` if the content type of a part is not valid in a header, and each
    ///   error of `lengthOfFile`.
    package init(
        _ form: MultipartForm, boundary: String, url: String, lengthOfFile: (String) throws -> Int64
    ) throws {
        precondition(Self.isValid(boundary: boundary), "A boundary consists of 1 to 70 letters, digits or '()+_,-./:=?")
        var (segments, pending) = ([Segment](), Data())
        func flush() {
            if !pending.isEmpty { segments.append(.bytes(pending)) }
            pending = Data()
        }
        for part in form.parts {
            pending += Data("--\(boundary)\r\n\(try Self.head(of: part, url: url))\r\n".utf8)
            switch part.content {
            case .data(let data): pending += data
            case .file(let path):
                let length = try lengthOfFile(path)
                if length > 0 {
                    flush()
                    segments.append(.file(path: path, length: length))
                }
            }
            pending += Data("\r\n".utf8)
        }
        pending += Data("--\(boundary)--\r\n".utf8)
        flush()
        self.segments = segments
        contentLength = segments.reduce(0) { $0 + $1.length }
        // A boundary that is not a token needs quotation marks.
        let isToken = boundary.utf8.allSatisfy(\.isTokenByte)
        contentType = "multipart/form-data; boundary=" + (isToken ? boundary : "\"\(boundary)\"")
    }

    /// Returns a boundary of 120 random bits, which no part can contain by accident or intent.
    package static func randomBoundary() -> String {
        "form-" + (0..<15).map { _ in UInt8.random(in: 0...255) }.hexadecimal()
    }

    package static func isValid(boundary: String) -> Bool {
        (1...70).contains(boundary.utf8.count)
            && boundary.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "'()+_,-./:=?".utf8.contains($0) }
    }

    private static func head(of part: MultipartForm.Part, url: String) throws(HTTPError) -> String {
        var head = "Content-Disposition: form-data; name=\"\(escaped(part.name))\""
        if let name = part.fileName { head += "; filename=\"\(escaped(name))\"" }
        head += "\r\n"
        guard let type = part.contentType else { return head }
        guard RequestFields.isValid(value: type) else {
            throw HTTPError(.invalidHeader(name: "Content-Type"), url: url)
        }
        return head + "Content-Type: \(type)\r\n"
    }

    /// Percent-encodes quotation marks and control characters, as browsers do for quotation marks and line breaks. A
    /// name can therefore not end its header.
    private static func escaped(_ name: String) -> String {
        let bytes = name.utf8.flatMap { byte -> [UInt8] in
            guard byte.isControl || byte == UInt8(ascii: "\"") else { return [byte] }
            return Array(PercentEncoding.encode([byte]) { _ in false }.utf8)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
