import HTTPCore
import HTTPTypes
import Testing

@Suite struct BodyLengthTests {
    @Test func `a bomb is refused by its ratio once it is large, and by its size`() {
        let limit = InflationLimit(size: 5000, ratio: 10, ratioApplies: 1000)
        for (compressed, inflated, permitted) in [
            (1, 1000, true), (1, 1001, false), (101, 1010, true), (101, 1011, false), (500, 5000, true),
            (5000, 5001, false),
            (0, 0, true), (0, 1000, true), (0, 1001, false),
        ] as [(Int64, Int64, Bool)] {
            #expect(limit.permits(inflated, from: compressed) == permitted, "\(compressed) \(inflated)")
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
        ] as [([String], BodyLength)])
    func `lengths that contradict each other or are not numbers are invalid`(
        values: [String], announced: BodyLength
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
}
