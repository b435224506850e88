import HTTPCore
import HTTPTypes
import TestSupport
import Testing

@Suite struct BodyLengthTests {
    private func name(_ reason: HTTPError.Reason?) -> String? { reason.map { "\($0)" } }

    @Test func `too few bytes are truncated, and too many are overlong`() {
        var length = BodyLength(expected: 10)
        #expect(name(length.end()) == name(.truncated(received: 0, expected: 10)))
        #expect(length.receive(9) == nil)
        #expect(name(length.end()) == name(.truncated(received: 9, expected: 10)))
        #expect(length.receive(1) == nil && length.receive(0) == nil)
        #expect(length.end() == nil)
        #expect(name(length.receive(1)) == name(.overlong(expected: 10)))
    }

    @Test func `a body of unknown length has any length`() {
        var length = BodyLength(expected: nil)
        #expect(length.end() == nil)
        #expect(length.receive(1_000_000) == nil && length.end() == nil)
    }

    @Test(arguments: [nil, 10, 11] as [Int64?])
    func `a body above the memory limit is refused, immediately if its length is announced`(
        expected: Int64?
    ) {
        var length = BodyLength(expected: expected, memoryLimit: 10)
        #expect(name(length.begin()) == (expected == 11 ? name(.bodyTooLarge(limit: 10)) : nil))
        #expect(length.receive(10) == nil)
        if expected != 10 { #expect(name(length.receive(1)) == name(.bodyTooLarge(limit: 10))) }
    }

    @Test func `the memory limit applies to decompressed bytes`() {
        var length = BodyLength(expected: 5, memoryLimit: 10)
        #expect(length.receiveCompressed(5) == nil && length.inflate(10) == nil)
        #expect(name(length.inflate(1)) == name(.bodyTooLarge(limit: 10)))
        #expect(length.end() == nil)
        #expect(length.received == 5 && length.inflated == 11)
    }

    @Test func `a bomb is refused by its ratio once it is large, and by its size`() {
        let limit = InflationLimit(size: 5000, ratio: 10, ratioApplies: 1000)
        for (compressed, inflated, permitted) in [
            (1, 1000, true), (1, 1001, false), (101, 1010, true), (101, 1011, false), (500, 5000, true),
            (5000, 5001, false),
            (0, 0, true), (0, 1000, true), (0, 1001, false),
        ] as [(Int64, Int64, Bool)] {
            #expect(limit.permits(inflated, from: compressed) == permitted, "\(compressed) \(inflated)")
            var length = BodyLength(expected: nil, inflation: limit)
            #expect(length.receiveCompressed(Int(compressed)) == nil)
            #expect((length.inflate(Int(inflated)) == nil) == permitted)
        }
        #expect(InflationLimit(ratio: nil).permits(.max, from: 0))
        #expect(InflationLimit(ratio: .max).permits(.max, from: .max))
        #expect(!InflationLimit.standard.permits(2 << 20, from: 2048))
    }

    @Test(
        arguments: [
            ([], .unknown), (["10"], .length(10)), (["0"], .length(0)), (["10", "10"], .length(10)),
            (["10, 10"], .length(10)),
            (["010", "10"], .length(10)), ([" 10 "], .length(10)), (["10", "11"], .invalid), (["10, 11"], .invalid),
            (["-1"], .invalid),
            (["+1"], .invalid), ([""], .invalid), ([","], .invalid), (["1,"], .invalid), (["1.0"], .invalid),
            (["0x1"], .invalid),
            (["99999999999999999999"], .invalid), (["x", "x"], .invalid), (["1 2"], .invalid), (["１"], .invalid),
        ] as [([String], BodyLength.Announcement)])
    func `lengths that contradict each other or are not numbers are invalid`(
        values: [String], announced: BodyLength.Announcement
    ) {
        var response = HTTPResponse(status: .ok)
        response.headerFields[values: .contentLength] = values
        #expect(BodyLength.announced(by: response, to: .get) == announced)
        #expect(BodyLength.announced(by: response, to: .head) == .length(0))
        response.headerFields[.transferEncoding] = "chunked"
        #expect(BodyLength.announced(by: response, to: .get) == .unknown)
    }

    @Test(arguments: [100, 103, 204, 304]) func `some responses never have a body`(status: Int) {
        let response = HTTPResponse(status: .init(code: status), headerFields: [.contentLength: "5"])
        #expect(BodyLength.announced(by: response, to: .get) == .length(0))
    }

    @Test(arguments: 0..<50 as Range<UInt64>) func `the result does not depend on the pieces`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let (expected, sent, limit) = (random.below(50), random.below(50), random.below(50))
        var length = BodyLength(expected: Int64(expected), memoryLimit: limit)
        var (rest, failed) = (sent, false)
        while rest > 0, !failed {
            let piece = 1 + random.below(rest)
            failed = length.receive(piece) != nil
            rest -= piece
        }
        failed = failed || length.end() != nil
        #expect(failed == (sent != expected || sent > limit))
    }
}
