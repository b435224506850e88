import WorkflowTestSupport
import Testing

@testable import WorkflowEngine

struct SecretFilterTests {
    @Test func `a secret is masked wherever the stream is cut`() throws {
        let text = Array("a hunter2 b hunter hunter2hunter2 hunte".utf8)
        let expected = "a ••• b hunter •••••• hunte"
        for first in 0...text.count {
            for second in first...text.count {
                var filter = try #require(SecretFilter(["hunter2"]))
                var result = filter.pass(text[..<first])
                result += filter.pass(text[first..<second])
                result += filter.pass(text[second...])
                result += filter.finish()
                #expect(String(decoding: result, as: UTF8.self) == expected, "cut at \(first) and \(second)")
            }
        }
    }

    @Test func `of two secrets at one place, the longer one is masked`() throws {
        let filter = try #require(SecretFilter(["abc", "ab", "bcd"]))
        #expect(filter.masked("xabcx ab abd bcd abcd") == "x•••x ••• •••d ••• •••d")
        #expect(filter.masked("nothing") == "nothing")
        #expect(SecretFilter(["", ""]) == nil)
    }

    @Test func `a chunk that holds no beginning of a secret passes at once`() throws {
        var filter = try #require(SecretFilter(["secret"]))
        #expect(filter.pass(Array("line\n".utf8)) == Array("line\n".utf8))
        #expect(filter.pass(Array("line sec".utf8)) == Array("line ".utf8))
        #expect(filter.finish() == Array("sec".utf8))
    }

    @Test func `the values are those of the file and of the process`() throws {
        let text = """
            secrets: [TOKEN, PASSWORD]
            environment: { TOKEN: of-file }
            operations: { a: { run: x, environment: { TOKEN: of-operation } }, b: { run: x } }
            """
        let secrets = Secrets(of: try plan(of: text)) { ["PASSWORD": "of-process", "HOME": "/root"][$0] }
        #expect(secrets.masked("of-file of-operation of-process /root") == "••• ••• ••• /root")
    }

    @Test func `the output of a command is masked before it is kept`() async throws {
        let text = """
            secrets: [TOKEN]
            operations: { a: { run: 'printf "x%sy%s" "$TOKEN" hunt', environment: { TOKEN: hunter2 } } }
            """
        let log = Journal<String>()
        _ = try await outcomes(of: text, in: TemporaryDirectory()) {
            if case .ended(_, let spool?) = $0 {
                log.append((try? spool.tail(byteCount: 100)).map { String(decoding: $0, as: UTF8.self) } ?? "")
            }
            return true
        }
        #expect(log.entries == ["x•••yhunt"])
    }
}
