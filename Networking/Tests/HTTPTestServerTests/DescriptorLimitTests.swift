import HTTPTestServer
import Testing

@Suite struct DescriptorLimitTests {
    @Test func `a server raises the limit of descriptors as far as the tests need`() async throws {
        try await HTTPTestServer.with(handler: { _ in .text("") }) { _ in
            let (soft, hard) = DescriptorLimit.present
            #expect(soft >= min(DescriptorLimit.needed, hard))
        }
    }
}
