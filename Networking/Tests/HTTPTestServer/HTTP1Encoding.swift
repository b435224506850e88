import HTTPTypes
import NIOCore

/// An encoder for HTTP/1.1 responses. A standard encoder refuses to write the invalid responses that tests of clients
/// need.
enum HTTP1Encoding {
    static func head(_ head: ResponseScript.Head) -> ByteBuffer {
        var buffer = ByteBuffer()
        if head.hasMalformedStatus {
            buffer.writeString("HTTP/one point one OK 200 \u{1}\r\n")
        } else {
            writeStatusLine(head.status, into: &buffer)
        }
        write(head.fields, into: &buffer)
        for length in head.lengths { buffer.writeString("Content-Length: \(length)\r\n") }
        if head.isChunked { buffer.writeString("Transfer-Encoding: chunked\r\n") }
        if head.closesConnection, head.fields[.connection] == nil { buffer.writeString("Connection: close\r\n") }
        if head.hasMalformedField { buffer.writeString("X-Malf\u{0}rmed name: \u{1}\u{0}value\r\n") }
        if let bytes = head.oversizedField {
            buffer.writeString("X-Oversized: ")
            buffer.writeRepeatingByte(UInt8(ascii: "x"), count: bytes)
            buffer.writeString("\r\n")
        }
        buffer.writeString("\r\n")
        return buffer
    }

    static func interim(_ response: HTTPResponse) -> ByteBuffer {
        var buffer = ByteBuffer()
        writeStatusLine(response.status, into: &buffer)
        write(response.headerFields, into: &buffer)
        buffer.writeString("\r\n")
        return buffer
    }

    static func chunk(_ bytes: ByteBuffer) -> [ByteBuffer] {
        [
            ByteBuffer(string: String(bytes.readableBytes, radix: 16) + "\r\n"), bytes,
            ByteBuffer(string: "\r\n"),
        ]
    }

    static let lastChunk = ByteBuffer(string: "0\r\n\r\n")
    static let malformedChunk = ByteBuffer(string: "five\r\nbytes\r\n")

    private static func writeStatusLine(_ status: HTTPResponse.Status, into buffer: inout ByteBuffer) {
        buffer.writeString("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n")
    }

    private static func write(_ fields: HTTPFields, into buffer: inout ByteBuffer) {
        for field in fields { buffer.writeString("\(field.name.rawName): \(field.value)\r\n") }
    }
}
