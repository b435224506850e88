import Testing

@testable import WorkflowEngine

struct RecentOutputsTests {
    @Test func `each output is kept up to its end, and the oldest are dropped`() {
        var outputs = RecentOutputs(limit: 4, total: 10)
        outputs.add(Array("abcdef".utf8), of: "a")
        outputs.add([], of: "empty")
        #expect(outputs.text(of: "a") == "cdef" && outputs.text(of: "empty") == nil && outputs.text(of: "b") == nil)
        outputs.add(Array("1234".utf8), of: "b")
        // An output that comes again is the latest one.
        outputs.add(Array("AB".utf8), of: "a")
        outputs.add(Array("xyz".utf8), of: "c")
        #expect(outputs.text(of: "a") == "AB" && outputs.text(of: "b") == "1234" && outputs.text(of: "c") == "xyz")
        outputs.add(Array("!!!!".utf8), of: "d")
        #expect(outputs.text(of: "b") == nil && outputs.text(of: "a") == "AB" && outputs.text(of: "d") == "!!!!")
    }

    @Test func `a hundred thousand outputs need bounded memory`() {
        var outputs = RecentOutputs(limit: 10, total: 1000)
        for number in 0..<100_000 { outputs.add(Array("\(number)".utf8), of: "\(number)") }
        #expect(outputs.text(of: "99999") == "99999" && outputs.text(of: "0") == nil)
        #expect((0..<100_000).count { outputs.text(of: "\($0)") != nil } == 200)
    }
}
