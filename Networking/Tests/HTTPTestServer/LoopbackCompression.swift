/// Functions that produce compressed bytes without a compressor. The output stores the input without compression. Only
/// runs of zeros become short.
public enum LoopbackCompression {
    /// Returns a gzip stream that contains the bytes in stored blocks.
    public static func gzip(_ bytes: [UInt8], checksumIsWrong: Bool = false) -> [UInt8] {
        var checksum = CRC32()
        checksum.update(bytes)
        return gzip(
            deflated: deflate(bytes), checksum: checksum.value ^ (checksumIsWrong ? 1 : 0), length: Int64(bytes.count))
    }

    /// Returns a zlib stream that contains the bytes. HTTP calls this format `deflate`.
    public static func zlib(_ bytes: [UInt8]) -> [UInt8] {
        var (a, b): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            a = (a + UInt32(byte)) % 65521
            b = (b + a) % 65521
        }
        return [0x78, 0x01] + deflate(bytes) + bigEndian(b << 16 | a)
    }

    /// Returns a brotli stream that contains the bytes in stored blocks (RFC 7932, section 9.2).
    public static func brotli(_ bytes: [UInt8]) -> [UInt8] {
        var (stream, rest) = ([UInt8](), bytes[...])
        while !rest.isEmpty {
            let block = rest.prefix(1 << 16)
            rest = rest.dropFirst(block.count)
            var bits = BitWriter()
            // Only the first block begins with the window size. The bit 0 means 64 KiB.
            if stream.isEmpty { bits.write(0, 1) }
            bits.write(0, 3)  // not the last block, and a length of four digits
            bits.write(block.count - 1, 16)
            bits.write(1, 1)  // stored
            stream += bits.finish() + block
        }
        // The last block is empty. If it is also the first block, it begins with the window size.
        return stream + [stream.isEmpty ? 0b110 : 0b11]
    }

    /// Returns a deflate stream without a wrapper. Some servers call this format `deflate`.
    public static func deflate(_ bytes: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = []
        var rest = bytes[...]
        repeat {
            let block = rest.prefix(65535)
            rest = rest.dropFirst(block.count)
            let count = UInt16(block.count)
            stream.append(rest.isEmpty ? 1 : 0)
            stream += littleEndian(count) + littleEndian(~count)
            stream += block
        } while !rest.isEmpty
        return stream
    }

    /// Returns a gzip stream that inflates to `length` zeros and has about a thousandth of this length.
    public static func gzipBomb(inflatingTo length: Int64) -> [UInt8] {
        let length = max(1, length)
        var checksum = CRC32()
        checksum.update(zeros: length)
        return gzip(deflated: zeros(length), checksum: checksum.value, length: length)
    }

    private static func gzip(deflated: [UInt8], checksum: UInt32, length: Int64) -> [UInt8] {
        [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255] + deflated + littleEndian(checksum)
            + littleEndian(UInt32(truncatingIfNeeded: length))
    }

    /// Encodes zeros in one block with dynamic Huffman codes (RFC 1951, section 3.2.7). A copy of 258 bytes at distance
    /// one takes two bits, both 0. The block consists of one zero, then copies, then the remaining zeros.
    private static func zeros(_ length: Int64) -> [UInt8] {
        var bits = BitWriter()
        bits.write(1, 1)  // the last block
        bits.write(2, 2)  // with dynamic codes
        bits.write(29, 5)  // 286 literals and lengths
        bits.write(0, 5)  // one distance
        bits.write(14, 4)  // 18 lengths for the code of the code lengths, in this order:
        for symbol in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1] {
            bits.write([18: 1, 1: 2, 2: 2][symbol] ?? 0, 3)
        }
        // In this code, symbol 18 (a run of symbols without a code) is 0, length 1 is 10 and length 2 is 11. The first
        // bit comes first.
        let one = 0b01, two = 0b11
        func skip(_ count: Int) {
            bits.write(0, 1)
            bits.write(count - 11, 7)
        }
        bits.write(two, 2)  // literal 0
        skip(138)
        skip(117)
        bits.write(two, 2)  // 256, the end
        skip(28)
        bits.write(one, 2)  // 285, a copy of 258 bytes
        bits.write(one, 2)  // distance 1
        // A copy is 0, its distance is 0, the literal is 10 and the end is 11.
        bits.write(0b01, 2)
        let copies = (length - 1) / 258
        bits.writeZeros(2 * copies)
        for _ in 0..<(length - 1) % 258 { bits.write(0b01, 2) }
        bits.write(0b11, 2)
        return bits.finish()
    }

    private static func littleEndian(_ number: some FixedWidthInteger & UnsignedInteger) -> [UInt8] {
        (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }

    private static func bigEndian(_ number: UInt32) -> [UInt8] { littleEndian(number).reversed() }

    /// A writer that fills each byte from its lowest bit.
    private struct BitWriter {
        private var bytes: [UInt8] = []
        private var pending: UInt8 = 0
        private var count = 0

        mutating func write(_ value: Int, _ width: Int) {
            for bit in 0..<width {
                pending |= UInt8(value >> bit & 1) << count
                count += 1
                if count == 8 { flush() }
            }
        }

        mutating func writeZeros(_ width: Int64) {
            let first = min(width, Int64((8 - count) % 8))
            write(0, Int(first))
            bytes += repeatElement(0, count: Int((width - first) / 8))
            write(0, Int((width - first) % 8))
        }

        mutating func finish() -> [UInt8] {
            if count > 0 { flush() }
            return bytes
        }

        private mutating func flush() {
            bytes.append(pending)
            (pending, count) = (0, 0)
        }
    }
}
