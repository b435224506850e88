#if Networking
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Foundation
#endif

/// A charset that the system reads.
struct SystemCharset: Hashable, Sendable {
    /// As `iconv` knows it, or the registry of IANA.
    private let name: String

    #if canImport(Glibc) || canImport(Musl)
    /// Nil if the system has no converter, which may be in a package of its own.
    init?(_ name: String) {
        guard let converter = Converter(name) else { return nil }
        converter.close()
        self.name = name
    }

    /// An invalid byte becomes U+FFFD, and reading continues with the next byte.
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
                    // The rest is part of a character.
                    if place < bytes.count { text += Self.replacementCharacter }
                    place = bytes.count
                }
            }
        }
        converter.finish(&text)
        return String(decoding: text, as: UTF8.self)
    }

    private static let replacementCharacter = Array("\u{FFFD}".utf8)

    /// Bytes without a meaning in a charset of Windows are read as Latin-1, as browsers do.
    private func replacement(for byte: UInt8) -> [UInt8] {
        name.hasPrefix("CP125") && 0x80..<0xA0 ~= byte
            ? Array(String(Unicode.Scalar(byte)).utf8) : Self.replacementCharacter
    }

    /// For one text.
    private struct Converter {
        enum Step { case more, invalid, end }

        private let descriptor: iconv_t
        /// The text of one step.
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

        /// Back to the state in which a text begins.
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

        /// Adds a character that was held back because more might have followed.
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

    /// All of it becomes U+FFFD if any of it is not valid: Core Foundation does not say where that is.
    func text(_ bytes: [UInt8]) -> String {
        let encoding = CFStringConvertEncodingToNSStringEncoding(
            CFStringConvertIANACharSetNameToEncoding(name as CFString))
        return String(bytes: bytes, encoding: String.Encoding(rawValue: encoding))
            ?? String(repeating: "\u{FFFD}", count: bytes.count)
    }
    #endif
}
#endif
