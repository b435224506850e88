/// File names as text. A name is any bytes, and a `String` holds Unicode only.
///
/// A byte that is not part of valid UTF-8 becomes a character from U+10FF80 to U+10FFFF, whose last two digits are the byte.
/// These characters are private and unassigned. A name that really contains one of them is converted byte by byte, so each
/// name has exactly one text and each text of this form has exactly one name.
extension String {
    /// Creates the text of a file name.
    package init(fileName bytes: some Collection<UInt8>) {
        if let text = String(validating: bytes, as: UTF8.self), !text.hasByteCharacters {
            self = text
            return
        }
        var text = ""
        var rest = Array(bytes)[...]
        while let first = rest.first {
            let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
            if let character = String(validating: rest.prefix(length), as: UTF8.self),
                character.unicodeScalars.count == 1, !character.hasByteCharacters
            {
                text += character
                rest = rest.dropFirst(length)
            } else {
                text.unicodeScalars.append(Unicode.Scalar(0x10FF00 + UInt32(first))!)
                rest = rest.dropFirst()
            }
        }
        self = text
    }

    /// The bytes of the file name, command or variable that the text stands for, without a NUL at the end.
    package var fileNameBytes: [UInt8] {
        guard hasByteCharacters else { return Array(utf8) }
        var bytes: [UInt8] = []
        for scalar in unicodeScalars {
            if scalar.isByte {
                bytes.append(UInt8(truncatingIfNeeded: scalar.value))
            } else {
                bytes += UTF8.encode(scalar)!
            }
        }
        return bytes
    }

    /// Calls `body` with the bytes of the file name, command or variable that the text stands for, and a NUL.
    package func withFileName<Result>(_ body: (UnsafePointer<CChar>) throws -> Result) rethrows -> Result {
        guard hasByteCharacters else { return try withCString(body) }
        return try (fileNameBytes + [0]).withUnsafeBufferPointer { bytes in
            try bytes.withMemoryRebound(to: CChar.self) { try body($0.baseAddress!) }
        }
    }

    /// Whether a character of the text stands for a byte.
    var hasByteCharacters: Bool {
        // The UTF-8 of these characters begins with the byte F4, which few other characters have.
        utf8.contains(0xF4) && unicodeScalars.contains(where: \.isByte)
    }
}

extension Unicode.Scalar {
    /// Whether the character stands for a byte of a file name.
    var isByte: Bool { (0x10FF80...0x10FFFF).contains(value) }
}
