import FoundationEssentials
import HTTPCore
import HTTPTypes
import TestSupport
import Testing

/// Tests that hostile text of a server never stops the program, and that parsing takes linear time.
@Suite struct TotalityTests {
    /// Runs every parser that reads text of other programs.
    private func readAll(_ text: String) {
        if let address = HTTPAddress(text) {
            #expect(HTTPAddress(address.description)?.description == address.description)
        }
        let base = HTTPAddress("http://a/b/c/d;p?q")!
        if let address = base.resolving(text) {
            #expect(HTTPAddress(address.description)?.description == address.description)
        }
        #expect(!HTTPAddress.redacted(text).utf8.contains { $0 < 0x20 || $0 == 0x7F })
        #expect(DownloadFileName.isUsable(DownloadFileName.sanitized(text)))
        _ = AuthenticationChallenge.parse(text)
        _ = ContentRange(text)
        _ = HTTPDate.parse(text, now: Date(timeIntervalSince1970: 0))
        _ = RetryAfter.delay(text, now: Date(timeIntervalSince1970: 0))
        if let media = MediaType(text) { #expect(MediaType(media.description) == media) }
        if let range = MediaRange(text) { #expect(MediaRange(range.description) == range) }
        _ = IPv6Address(text)
        if let charset = Charset(name: text) { _ = charset.text(text.utf8) }
        #expect(String(decoding: PercentEncoding.decode(FormValue.text(text).encoded), as: UTF8.self) == text)
    }

    private static let pieces = [
        "http", "https", "://", "//", "/", "..", ".", "?", "#", "@", ":", "[", "]", "::", "1", "99999999999", "%",
        "%2e", "a", "ü", "\\",
        "\"", "\0", "\r\n", " ", ";", "=", ",", "*", "+json", "bytes ", "-", "GMT", "Sun, ", "06 Nov 1994 ",
        "08:49:37 ", "charset", "''",
        "filename*", "Digest ", "attachment", "日", "👨‍👩‍👧", "\u{FEFF}", "\u{202E}",
    ]

    @Test(arguments: 0..<UInt64(Stress.rounds(40, least: 15))) func `random texts cause no crash`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<50 { readAll((0..<random.below(12)).map { _ in random.pick(Self.pieces) }.joined()) }
    }

    @Test(arguments: 0..<UInt64(Stress.rounds(20, least: 5))) func `random bytes cause no crash`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let base = HTTPAddress("http://a/")!
        for _ in 0..<100 {
            let bytes = (0..<random.below(40)).map { _ in UInt8(random.below(256)) }
            _ = HTTPAddress(bytes: Array("http://".utf8) + bytes)
            _ = base.resolving(bytes: bytes)
            for name in CharsetTests.all { _ = Charset(name: name)?.text(bytes) }
            readAll(String(decoding: bytes, as: UTF8.self))
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: pieces) func `parsing time is linear in the length of the text`(
        piece: String
    ) {
        readAll(String(repeating: piece, count: 2000))
        readAll("http://h/" + String(repeating: piece, count: 2000))
    }
}
