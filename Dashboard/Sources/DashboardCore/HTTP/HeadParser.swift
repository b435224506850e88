/// The parser of a request line and its fields. It is strict: each doubt is an error.
enum HeadParser {
    /// - Parameter bytes: The head without the empty line.
    /// - Returns: The request without its body, and the length of the body.
    static func parse(_ bytes: ArraySlice<UInt8>) -> Result<(HTTPRequest, Int), HTTPStatus> {
        guard let lines = lines(bytes), let first = lines.first else { return .failure(.badRequest) }
        let parts = first.split(separator: 32, omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[0].isEmpty, parts[0].allSatisfy(isToken), parts[1].first == UInt8(ascii: "/"),
            parts[1].allSatisfy({ $0 > 32 && $0 < 127 })
        else { return .failure(.badRequest) }
        let version = text(parts[2])
        guard version == "HTTP/1.1" || version == "HTTP/1.0" else { return .failure(.versionNotSupported) }
        guard lines.count - 1 <= RequestParser.fieldLimit else { return .failure(.fieldsTooLarge) }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
                line[..<colon].allSatisfy(isToken)
            else { return .failure(.badRequest) }
            let name = text(line[..<colon]).lowercased()
            // Two values of one name could mean one thing to this server and another thing to a proxy before it.
            guard fields.updateValue(text(trimmed(line[(colon + 1)...])), forKey: name) == nil else {
                return .failure(.badRequest)
            }
        }
        guard fields["transfer-encoding"] == nil else { return .failure(.notImplemented) }
        guard fields["expect"] == nil else { return .failure(.expectationFailed) }
        return length(fields["content-length"]).map { length in
            let target = parts[1].split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
            let connection = fields["connection"]?.lowercased()
            let keepsAlive = connection != "close" && (version == "HTTP/1.1" || connection == "keep-alive")
            let request = HTTPRequest(
                method: text(parts[0]), path: text(target[0]), query: target.count > 1 ? text(target[1]) : "",
                fields: fields, keepsAlive: keepsAlive)
            return (request, length)
        }
    }

    private static func length(_ value: String?) -> Result<Int, HTTPStatus> {
        guard let value else { return .success(0) }
        guard !value.isEmpty, value.utf8.allSatisfy({ (48...57).contains($0) }) else { return .failure(.badRequest) }
        guard let length = Int(value), length <= RequestParser.bodyLimit else { return .failure(.contentTooLarge) }
        return .success(length)
    }

    /// The lines between CR LF; nil if a line has another control character.
    private static func lines(_ bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>]? {
        var lines: [ArraySlice<UInt8>] = []
        var start = bytes.startIndex
        var index = start
        while index < bytes.endIndex {
            let byte = bytes[index]
            if byte == 13 {
                guard index + 1 < bytes.endIndex, bytes[index + 1] == 10 else { return nil }
                lines.append(bytes[start..<index])
                (start, index) = (index + 2, index + 2)
                continue
            }
            guard byte >= 32 && byte != 127 || byte == 9 else { return nil }
            index += 1
        }
        return lines + [bytes[start...]]
    }

    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes = bytes
        while let first = bytes.first, first == 32 || first == 9 { bytes.removeFirst() }
        while let last = bytes.last, last == 32 || last == 9 { bytes.removeLast() }
        return bytes
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}
