/// The bytes of a connection that are not yet a request. A value of bounded size.
package struct RequestParser: Sendable {
    package enum Step: Sendable, Equatable {
        /// The request is not complete.
        case needsMore
        case request(HTTPRequest)
        /// The bytes are no request that this server answers. The connection must be closed after the response.
        case reject(HTTPStatus)
    }

    package static let headLimit = 16 * 1024
    package static let bodyLimit = 64 * 1024
    package static let fieldLimit = 64

    private var buffer: [UInt8] = []
    /// The position from which the end of the head is searched, so that a slow client causes no quadratic time.
    private var searched = 0
    private var head: (request: HTTPRequest, end: Int, length: Int)?

    package init() {}

    /// The number of bytes held.
    package var count: Int { buffer.count }

    /// Adds received bytes. The caller asks `next()` after each addition.
    package mutating func add(_ bytes: some Collection<UInt8>) { buffer.append(contentsOf: bytes) }

    /// Returns the next request, and removes its bytes.
    package mutating func next() -> Step {
        if head == nil {
            guard let end = headEnd() else {
                return buffer.count > Self.headLimit ? .reject(.fieldsTooLarge) : .needsMore
            }
            guard end <= Self.headLimit else { return .reject(.fieldsTooLarge) }
            switch HeadParser.parse(buffer[..<(end - 4)]) {
            case .failure(let status): return .reject(status)
            case .success(let (request, length)): head = (request, end, length)
            }
        }
        guard let head, buffer.count >= head.end + head.length else { return .needsMore }
        var request = head.request
        request.body = Array(buffer[head.end..<(head.end + head.length)])
        buffer.removeFirst(head.end + head.length)
        (searched, self.head) = (0, nil)
        return .request(request)
    }

    /// The index after the empty line.
    private mutating func headEnd() -> Int? {
        let mark: [UInt8] = [13, 10, 13, 10]
        var index = max(searched - 3, 0)
        while index + 4 <= buffer.count {
            if buffer[index] == 13, buffer[index..<(index + 4)].elementsEqual(mark) { return index + 4 }
            index += 1
        }
        searched = buffer.count
        return nil
    }
}

extension HTTPStatus: Error {}
