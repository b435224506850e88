import HTTPTestServer
import HTTPTypes
import Operations
@testable import OperationsNetworking
import Testing

@Suite(.timeLimit(.minutes(5))) struct StreamStatusTests {
    @Test func `a status is a number of three digits`() {
        for status in ["200", "999", "099"] { #expect(StreamStatus.isValid(status)) }
        for status in ["-1", "-99", "+20", "20", "1000", "", " 200", "2 0", "２００", "abc"] {
            #expect(!StreamStatus.isValid(status))
        }
    }

    @Test func `another status over HTTP 2 is an error`() async throws {
        let response = LoopbackResponse(body: .text("x")).with(.malformedStatus)
        try await withServer({ _ in response }, .init(protocol: .http2)) { server in
            let operation = HTTPDataOperation(get(server.url + "/"), session: try .trusting(server))
            OperationQueue().addOperation(operation)
            let why = await reason { try await operation.value }
            #expect(why?.text == "connection")
        }
    }
}
