import HTTPCore
import Testing

@Suite struct ContentRangeTests {
    @Test(arguments: [
        "", "bytes", "bytes ", "bytes 0-1", "bytes 0-1/", "bytes 0-/5", "bytes -1/5", "bytes 1-0/5", "bytes 0-5/5",
        "bytes 0-1/1",
        "items 0-1/5", "bytes=0-1/5", "bytes 0 - 1/5", "bytes 0-1/5 x", "bytes 0-1,3-4/5", "bytes a-b/c",
        "bytes 0x0-1/5",
        "bytes -0-1/5", "bytes +0-1/5", "bytes 0-1/+5", "bytes 0-1/-5", "bytes 0-99999999999999999999/*", "bytes */",
        "bytes 0-1/99999999999999999999", "bytes 0-9223372036854775807/*", "bytes ٠-١/٥", "multipart/byteranges",
    ])
    func `invalid and contradictory values are refused`(value: String) {
        #expect(ContentRange(value) == nil)
    }

    @Test(
        arguments: [
            ("bytes 0-0/1", .bytes(0...0, total: 1)), ("bytes 5-9/10", .bytes(5...9, total: 10)),
            ("BYTES  5-9/* ", .bytes(5...9, total: nil)),
            ("bytes */10", .unsatisfied(total: 10)), ("bytes */0", .unsatisfied(total: 0)),
            ("bytes */*", .unsatisfied(total: nil)),
            ("bytes 0-9223372036854775806/9223372036854775807", .bytes(0...(.max - 1), total: .max)),
            ("bytes 00-01/02", .bytes(0...1, total: 2)),
        ] as [(String, ContentRange)])
    func `ranges are parsed`(value: String, range: ContentRange) {
        #expect(ContentRange(value) == range)
    }
}
