import HTTPCore
import HTTPTypes
@testable import OperationsNetworking
import Testing

@Suite struct MemorySinkTests {
    @Test(arguments: [1 << 40, 1 << 50, Int64.max])
    func `an announced length reserves no memory that the server may never fill`(length: Int64) throws {
        let address = try #require(HTTPAddress("http://localhost/"))
        let sink = MemorySink(limit: .max)
        try sink.begin(at: 0, length: length, HTTPResponse(status: .ok), at: address)
        #expect(sink.take().isEmpty)
    }
}
