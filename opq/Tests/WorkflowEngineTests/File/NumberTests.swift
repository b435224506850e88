import Testing

@testable import WorkflowEngine

struct NumberTests {
    @Test(arguments: ["014", "0b11", "1_0", "1:30", "0x1F", "0o17", "1e3", "1.5", ".inf", "-0", "08", "+3"])
    func `only decimal digits without a zero first are a whole number`(number: String) {
        let text = "queues: {q: {concurrency: \(number)}}\noperations: {a: {run: x, queue: q}}"
        let complaint = complaints(about: text).first ?? ""
        #expect(complaint.hasPrefix("w:1:27: error: 'concurrency' must be"), "\(complaint)")
    }

    @Test(arguments: [
        ("10s", 10_000), ("5m", 300_000), ("1h30m", 5_400_000), ("500ms", 500), ("1d", 86_400_000), ("1h0s", 3_600_000),
        ("1s500ms", 1500),
    ])
    func `a duration is numbers with units, the longest first`(text: String, milliseconds: Int) {
        #expect(Duration(opq: text) == .milliseconds(milliseconds))
    }

    @Test(arguments: [
        "", "10", "s", "1.5s", "30m1h", "1h1h", "-1s", "1 s", "1S", "9999999999999999999s", "1w", "40000d",
    ])
    func `other texts are no durations`(text: String) {
        #expect(Duration(opq: text) == nil)
    }

    @Test(arguments: [
        ("2GB", 2_000_000_000), ("512MB", 512_000_000), ("2GiB", 2_147_483_648), ("1.5kB", 1500), ("10 MB", 10_000_000),
    ])
    func `a size is a number with a unit`(text: String, bytes: Int) {
        #expect(Int(opqSize: text) == bytes)
    }

    @Test(arguments: ["GB", "2", "2 G", "2gb", "1.2.3GB", "-1GB", "99999999999TB"])
    func `other texts are no sizes`(text: String) {
        #expect(Int(opqSize: text) == nil)
    }

    @Test(arguments: [
        ("no", ScalarKind.boolean(false)), ("on", .boolean(true)), ("", .null), ("~", .null), ("NULL", .null),
        ("1.10", .number),
        ("1.10.2", .string), ("v1", .string), ("-", .string), ("--x", .string), ("+1", .number), ("<<", .merge),
        ("1:61", .number), ("1:600", .string), ("12e03", .number), ("1e", .string), (".5", .number), (".", .string),
        ("nothing", .string), ("0x", .string), ("_1", .string),
    ])
    func `a plain scalar has its meaning in YAML`(text: String, kind: ScalarKind) {
        #expect(Array(text.utf8).withUnsafeBufferPointer { ScalarKind(ofPlain: $0) } == kind)
    }
}
