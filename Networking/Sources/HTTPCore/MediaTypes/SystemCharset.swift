#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Foundation
#endif

/// A charset that the system decodes.
struct SystemCharset: Hashable, Sendable {
    /// The name that `iconv` or the registry of IANA uses.
    private let name: String

    #if canImport(Glibc) || canImport(Musl)
    /// Returns nil if the system has no converter for the charset. Some systems install converters with a separate
    /// package.
    init?(_ name: String) {
        guard let converter = Converter(name) else { return nil }
        converter.close()
        self.name = name
    }

    /// Decodes the bytes. An invalid byte becomes U+FFFD, and the decoding continues with the next byte.
    func text(_ bytes: [UInt8]) -> String {
        guard let converter = Converter(name) else { return String(decoding: bytes, as: UTF8.self) }
        defer { converter.close() }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        bytes.withUnsafeBytes { bytes in
            var place = 0
            while place < bytes.count {
                switch converter.convert(bytes, from: &place, to: &text) {
                case .more: break
                case .invalid:
                    text += replacement(for: bytes[place])
                    place += 1
                    converter.reset()
                case .end:
                    // The remaining bytes are an incomplete character.
                    if place < bytes.count { text += Self.replacementCharacter }
                    place = bytes.count
                }
            }
        }
        converter.finish(&text)
        return String(decoding: text, as: UTF8.self)
    }

    private static let replacementCharacter = Array("\u{FFFD}".utf8)

    /// Returns the Latin-1 character for a byte that a Windows charset leaves undefined, as browsers do. Returns U+FFFD
    /// for other charsets.
    private func replacement(for byte: UInt8) -> [UInt8] {
        name.hasPrefix("CP125") && 0x80..<0xA0 ~= byte
            ? Array(String(Unicode.Scalar(byte)).utf8) : Self.replacementCharacter
    }

    /// A converter for one text.
    private struct Converter {
        enum Step { case more, invalid, end }

        private let descriptor: iconv_t
        /// The output of one call of `iconv`.
        private let output = UnsafeMutableBufferPointer<CChar>.allocate(capacity: 16 << 10)

        init?(_ name: String) {
            guard let descriptor = iconv_open("UTF-8", name), descriptor != iconv_t(bitPattern: -1) else {
                output.deallocate()
                return nil
            }
            self.descriptor = descriptor
        }

        func close() {
            iconv_close(descriptor)
            output.deallocate()
        }

        /// Resets the converter to its initial state.
        func reset() { iconv(descriptor, nil, nil, nil, nil) }

        /// Converts up to an invalid or incomplete character, or until the output is full.
        func convert(_ bytes: UnsafeRawBufferPointer, from place: inout Int, to text: inout [UInt8]) -> Step {
            // `iconv` does not write to its input, though its type says that it may.
            let start = UnsafeMutableRawPointer(mutating: bytes.baseAddress! + place)
            var from: UnsafeMutablePointer<CChar>? = start.assumingMemoryBound(to: CChar.self)
            var left = bytes.count - place
            var (to, room) = (output.baseAddress, output.count)
            let status = iconv(descriptor, &from, &left, &to, &room)
            let code = errno
            place = bytes.count - left
            take(output.count - room, to: &text)
            if status != -1 { return .end }
            return code == E2BIG ? .more : code == EILSEQ ? .invalid : .end
        }

        /// Adds a character that the converter held back because another character could combine with it.
        func finish(_ text: inout [UInt8]) {
            var (to, room) = (output.baseAddress, output.count)
            _ = iconv(descriptor, nil, nil, &to, &room)
            take(output.count - room, to: &text)
        }

        private func take(_ count: Int, to text: inout [UInt8]) {
            text += UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(output)[..<count])
        }
    }
    #else
    init?(_ name: String) {
        guard CFStringConvertIANACharSetNameToEncoding(name as CFString) != kCFStringEncodingInvalidId else {
            return nil
        }
        self.name = name
    }

    /// Decodes the bytes. If any byte is invalid, every byte becomes U+FFFD, because Core Foundation does not report
    /// the position of the invalid byte.
    func text(_ bytes: [UInt8]) -> String {
        let encoding = CFStringConvertEncodingToNSStringEncoding(
            CFStringConvertIANACharSetNameToEncoding(name as CFString))
        return String(bytes: bytes, encoding: String.Encoding(rawValue: encoding))
            ?? String(repeating: "\u{FFFD}", count: bytes.count)
    }
    #endif
}
