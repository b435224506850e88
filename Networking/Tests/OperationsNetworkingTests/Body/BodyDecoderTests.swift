import HTTPCore
import HTTPTypes
import HTTPTestServer
import NIOCore
@testable import OperationsNetworking
import TestSupport
import Testing

/// The removal of content codings from bodies.
@Suite(.timeLimit(.minutes(5))) struct BodyDecoderTests {
    private static let bytes = LoopbackBody.pattern(length: 200_001).bytes

    enum Kind: CaseIterable {
        case gzip, members, zlib, deflate, brotli, twice

        var coding: String {
            switch self {
            case .gzip, .members: "gzip"
            case .zlib, .deflate: "deflate"
            case .brotli: "br"
            case .twice: "identity, Deflate , gzip"
            }
        }

        func encoded(_ bytes: [UInt8]) -> [UInt8] {
            switch self {
            case .gzip: LoopbackCompression.gzip(bytes)
            case .members:
                LoopbackCompression.gzip(Array(bytes.prefix(bytes.count / 2)))
                    + LoopbackCompression.gzip(Array(bytes.dropFirst(bytes.count / 2)))
            case .zlib: LoopbackCompression.zlib(bytes)
            case .deflate: LoopbackCompression.deflate(bytes)
            case .brotli: LoopbackCompression.brotli(bytes)
            case .twice: LoopbackCompression.gzip(LoopbackCompression.zlib(bytes))
            }
        }

        /// The codings that this machine can decode.
        static var all: [Kind] { allCases.filter { $0 != .brotli || Brotli.shared != nil } }
    }

    private func newDecoder(
        _ coding: String?, _ limit: InflationLimit = InflationLimit(), length: Int64? = nil
    ) -> BodyDecoder? {
        var head = HTTPResponse(status: .ok)
        head.headerFields[.contentEncoding] = coding
        return BodyDecoder(for: head, length: length, limit)
    }

    /// Returns the output for input in pieces of these lengths.
    private func decoded(
        _ bytes: [UInt8], by decoder: BodyDecoder, pieces: () -> Int = { .max }
    ) throws -> [UInt8] {
        var (rest, decoded) = (bytes[...], [UInt8]())
        while !rest.isEmpty {
            let piece = rest.prefix(pieces())
            rest = rest.dropFirst(piece.count)
            decoder.receive(ByteBuffer(bytes: piece))
            while let portion = try decoder.next() {
                #expect(1...64 << 10 ~= portion.readableBytes)
                decoded += portion.readableBytesView
            }
        }
        try decoder.finish()
        return decoded
    }

    private func reason(_ body: () throws -> some Any) -> String? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? TransferFailure).map { "\($0.reason)".split(separator: "(")[0].description } ?? "\(error)"
        }
    }

    @Test(arguments: Kind.all, 0..<UInt64(Stress.rounds(12, least: 4)))
    func `decoding does not depend on the size of the pieces`(
        kind: Kind, seed: UInt64
    ) throws {
        var random = SeededRandom(seed: seed)
        let bytes = Array(Self.bytes.prefix(seed == 0 ? 0 : random.below(Self.bytes.count)))
        let most = 1 << random.below(18)
        let decoder = try #require(newDecoder(kind.coding))
        let outcome = try decoded(kind.encoded(bytes), by: decoder) { 1 + random.below(most) }
        #expect(outcome == bytes)
    }

    @Test(.enabled(if: Brotli.shared != nil)) func `brotli data of another program is decoded`() throws {
        let made: [UInt8] = [
            0x1b, 0x07, 0x07, 0x88, 0x2c, 0x0e, 0x78, 0xd3, 0xd0, 0x95, 0x5d, 0x97, 0x10, 0xbb, 0x17, 0x2b, 0xa9, 0xca,
            0xd0, 0x92, 0xcc, 0x8c, 0xad, 0x41, 0x5c, 0xe6, 0xf2, 0x36, 0xc8, 0x19, 0x9e, 0x9e, 0x0a, 0x7b, 0x83, 0x0d,
            0x38, 0x70, 0x48, 0x20, 0x6f, 0x24, 0xbf, 0x41, 0xa7, 0x15, 0xce, 0x1c, 0x1e, 0x27, 0xaa, 0x29, 0x38, 0xc2,
            0xa9, 0x74, 0x9f, 0x06, 0x03,
        ]
        let text = String(repeating: "The quick brown fox jumps over the lazy dog. ", count: 40)
        #expect(try decoded(made, by: #require(newDecoder("br"))) == Array(text.utf8))
    }

    @Test(arguments: [nil, "", "identity", "zstd", "gzip, zstd", "gzip, gzip, gzip, gzip", "compress"] as [String?])
    func `a body without a coding, or with an unknown one, stays as it is`(coding: String?) {
        #expect(newDecoder(coding) == nil)
    }

    @Test(arguments: Kind.all) func `an early end is a truncation, and an empty body is valid`(
        kind: Kind
    ) throws {
        let encoded = kind.encoded(Self.bytes)
        for count in [1, 2, 30, encoded.count / 3, encoded.count - 1] {
            let reason = reason { try decoded(Array(encoded.prefix(count)), by: #require(newDecoder(kind.coding))) }
            #expect(reason == "truncated", "\(count)")
        }
        #expect(try decoded([], by: #require(newDecoder(kind.coding))) == [])
    }

    @Test(arguments: Kind.all) func `data after the end is refused, except zeros after gzip`(kind: Kind) throws {
        let isGzip = [.gzip, .members, .twice].contains(kind)
        let bytes = Array(Self.bytes.prefix(1000))
        for (rest, isPadding) in [
            ([0], true), ([UInt8](repeating: 0, count: 200), true), ([1], false), ([0, 1], false), ([0, 0x1F], false),
            ([0] + LoopbackCompression.gzip([7]), false), ([0x1F, 0], false), (Array("text".utf8), false),
        ] {
            // The rest arrives together with the other data, or alone.
            for pieces in [Int.max, 1] {
                let decoder = try #require(newDecoder(kind.coding))
                if isGzip, isPadding {
                    #expect(try decoded(kind.encoded(bytes) + rest, by: decoder) { pieces } == bytes)
                } else {
                    let reason = reason { try decoded(kind.encoded(bytes) + rest, by: decoder) { pieces } }
                    #expect(reason == "undecodableEncoding", "\(rest)")
                }
            }
        }
    }

    @Test func `all members of gzip are decoded, also empty ones`() throws {
        let (first, second) = (Array(Self.bytes.prefix(70_000)), Array(Self.bytes.suffix(10)))
        let members = [[], first, [], second, []].map { LoopbackCompression.gzip($0) }
        for pieces in [Int.max, 1, 3] {
            let decoder = try #require(newDecoder("gzip"))
            #expect(try decoded(members.flatMap(\.self) + [0, 0], by: decoder) { pieces } == first + second)
        }
        #expect(try decoded(LoopbackCompression.gzip([]), by: #require(newDecoder("gzip"))) == [])
    }

    @Test func `a member without its end, or with a wrong checksum or length, fails the whole body`() throws {
        let (first, second) = (LoopbackCompression.gzip([1, 2, 3]), LoopbackCompression.gzip([4, 5, 6]))
        for pieces in [Int.max, 1] {
            for count in 1..<second.count {
                let cut = first + second.prefix(count)
                #expect(reason { try decoded(cut, by: #require(newDecoder("gzip"))) { pieces } } == "truncated")
            }
            for wrong in 1...8 {
                for members in [[second], [first, second], [second, first]] {
                    var bytes = members.flatMap(\.self)
                    bytes[(members[0] == second ? 0 : first.count) + second.count - wrong] ^= 1
                    let reason = reason { try decoded(bytes, by: #require(newDecoder("gzip"))) { pieces } }
                    #expect(reason == "undecodableEncoding", "\(wrong)")
                }
            }
        }
        var zlib = LoopbackCompression.zlib([1, 2, 3])
        zlib[zlib.count - 1] ^= 1
        #expect(reason { try decoded(zlib, by: #require(newDecoder("deflate"))) } == "undecodableEncoding")
    }

    @Test func `damaged data is refused, unless the checksum misses it`() throws {
        let wrong = LoopbackCompression.gzip(Self.bytes, checksumIsWrong: true)
        #expect(reason { try decoded(wrong, by: #require(newDecoder("gzip"))) } == "undecodableEncoding")
        var random = SeededRandom(seed: 1)
        let (bytes, limit) = (Array(Self.bytes.prefix(300)), InflationLimit(size: 1 << 20))
        for _ in 0..<20_000 {
            let kind = Kind.all[random.below(Kind.all.count)]
            var encoded = kind.encoded(bytes)
            for _ in 0...random.below(4) { encoded[random.below(encoded.count)] = UInt8(random.below(256)) }
            let reason = reason { try decoded(encoded, by: #require(newDecoder(kind.coding, limit))) }
            #expect([nil, "truncated", "undecodableEncoding", "decompressionLimitExceeded"].contains(reason))
        }
    }

    /// Zeros that another program has compressed.
    private static let brotliBomb: [UInt8] = [
        0xcb, 0xff, 0xff, 0x3f, 0xf8, 0x27, 0x00, 0xe2, 0xb1, 0x40, 0x20, 0xf7, 0xfe, 0x8f, 0xff, 0xff, 0x7f, 0xf0,
        0x4f,
        0x00, 0xc4, 0x61, 0x11, 0x80, 0xee, 0xfd, 0xdf,
    ]

    @Test(.enabled(if: Brotli.shared != nil)) func `decodable output is delivered without more input`() throws {
        // Data that another program has flushed, without an end.
        let made: [UInt8] = [
            0xab, 0x97, 0x8d, 0x07, 0x40, 0xb4, 0x6d, 0x94, 0xea, 0x42, 0xb2, 0x25, 0x43, 0x51, 0x3c, 0x15, 0x79, 0x26,
            0x27, 0x7f, 0x8e, 0x02, 0xd5, 0x81, 0x79, 0x65, 0x2b, 0x9b, 0x05, 0xcd, 0x16, 0x5e, 0x79, 0x3a, 0x22, 0x2f,
            0xca, 0x6a, 0x63, 0x82, 0x5b, 0xf4, 0x81, 0x71, 0x7a, 0x25, 0x1e, 0xaa, 0xfb, 0x0f, 0x81, 0xc9, 0x00, 0x18,
        ]
        let decoder = try #require(newDecoder("br", InflationLimit(ratio: nil)))
        decoder.receive(ByteBuffer(bytes: made))
        var count = 0
        while let portion = try decoder.next() { count += portion.readableBytes }
        #expect(count == 990_000)
    }

    @Test func `a large intermediate result is refused, even if the final result is small`() throws {
        // Four million bytes of empty gzip members, compressed twice by another program.
        let made: [UInt8] = [
            0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xed, 0xc4, 0x21, 0x0a, 0xc2, 0x60, 0x18, 0x00,
            0xd0, 0x0f, 0x85, 0x31, 0x83, 0xc9, 0x68, 0x98, 0x78, 0x82, 0xbf, 0x1a, 0xec, 0x6b, 0x0b, 0x1e, 0xc0, 0x62,
            0x5b, 0x11, 0x4c, 0x9e, 0x61, 0x57, 0x10, 0x76, 0x06, 0xef, 0x30, 0xc4, 0x64, 0xf6, 0x06, 0xc2, 0xc6, 0x4e,
            0xb0, 0x22, 0xde, 0xc2, 0xf0, 0x5e, 0x78, 0x45, 0x93, 0xc7, 0xcf, 0x6c, 0x3e, 0x3e, 0xef, 0xcb, 0xd8, 0xe4,
            0x91, 0xb6, 0xcd, 0xf1, 0x9c, 0xaa, 0x55, 0xd6, 0xa6, 0xf1, 0xdd, 0xaf, 0x87, 0xd3, 0xe3, 0xf0, 0xda, 0x7d,
            0x6e, 0x17, 0x49, 0x92, 0x24, 0x49, 0x92, 0x24, 0x49, 0x92, 0x24, 0x49, 0x92, 0x24, 0x49, 0xd2, 0xff, 0x34,
            0xf5, 0x59, 0x59, 0x77, 0xd7, 0x58, 0xec, 0xe3, 0x0b, 0x7e, 0x56, 0xd6, 0xfd, 0x09, 0x26, 0x00, 0x00,
        ]
        let decoder = try #require(newDecoder("gzip, gzip, gzip"))
        decoder.receive(ByteBuffer(bytes: made))
        #expect(reason { while try decoder.next() != nil {} } == "decompressionLimitExceeded")
    }

    @Test func `the announced length counts, for any size of the pieces`() throws {
        let bomb = LoopbackCompression.gzipBomb(inflatingTo: 4 << 20)
        for pieces in [1, 100, Int.max] {
            let limit = InflationLimit(ratio: 2000)
            let decoder = try #require(newDecoder("gzip", limit, length: Int64(bomb.count)))
            #expect(try decoded(bomb, by: decoder) { pieces }.count == 4 << 20)
        }
    }

    @Test func `a bomb is refused early, even without an announced length`() throws {
        let bombs = [("gzip", LoopbackCompression.gzipBomb(inflatingTo: 16 << 20))]
        for (coding, bomb) in bombs + (Brotli.shared == nil ? [] : [("br", Self.brotliBomb)]) {
            let decoder = try #require(newDecoder(coding))
            decoder.receive(ByteBuffer(bytes: bomb))
            var count = 0
            let reason = reason { while let portion = try decoder.next() { count += portion.readableBytes } }
            #expect(reason == "decompressionLimitExceeded")
            #expect(count <= max(1 << 20, bomb.count * 100))
            // Without a limit the body is decoded.
            let whole = try decoded(bomb, by: #require(newDecoder(coding, InflationLimit(ratio: nil))))
            #expect(whole.count == 16 << 20)
        }
        // The limit of the size refuses it as well.
        let reason = reason {
            try decoded(
                LoopbackCompression.gzip(Self.bytes), by: #require(newDecoder("gzip", InflationLimit(size: 100_000))))
        }
        #expect(reason == "decompressionLimitExceeded")
    }
}
