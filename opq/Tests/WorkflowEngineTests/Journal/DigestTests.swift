import Testing

@testable import WorkflowEngine

struct DigestTests {
    @Test func `the digest is that of the reference`() {
        // Values of the reference implementation with the seed 0.
        #expect(Digest(of: []) == Digest(0, 0))
        #expect(Digest(of: Array("hello".utf8)) == Digest(0xcbd8_a7b3_41bd_9b02, 0x5b1e_906a_48ae_1d19))
    }

    @Test func `the digest does not depend on the parts in which the bytes come`() {
        let bytes = (0..<200).map { UInt8($0) }
        let whole = Digest(of: bytes)
        for size in 1...40 {
            var hasher = DigestHasher()
            for start in stride(from: 0, to: bytes.count, by: size) {
                bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { hasher.add($0) }
            }
            #expect(hasher.finish() == whole)
        }
        #expect(Digest(of: ["ab", "c"]) != Digest(of: ["a", "bc"]))
    }
}
