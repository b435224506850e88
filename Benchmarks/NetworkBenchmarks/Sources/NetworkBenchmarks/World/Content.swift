import Glibc

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import struct Foundation.Data
import class Foundation.FileManager
#endif

/// The served content, equal in every run: a mebibyte of noise, repeated for large files.
enum Content {
    static let smallName = "small.bin"
    static let smallSize = 1_024
    /// The file that is loaded before the memory is measured.
    static let warmName = "warm.bin"
    static let warmMebibytes = 16
    static let bigName = "big.bin"

    static let block: [UInt8] = {
        var state: UInt64 = 0x9e37_79b9_7f4a_7c15
        return (0..<1 << 17).flatMap { _ -> [UInt8] in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return withUnsafeBytes(of: state.littleEndian) { Array($0) }
        }
    }()

    static func writeSmall(to folder: String) throws {
        try write(block.prefix(smallSize), 1, to: "\(folder)/\(smallName)")
    }

    static func writeBig(to folder: String, mebibytes: Int) throws {
        try write(block[...], warmMebibytes, to: "\(folder)/\(warmName)")
        try write(block[...], mebibytes, to: "\(folder)/\(bigName)")
    }

    private static func write(_ block: ArraySlice<UInt8>, _ times: Int, to path: String) throws {
        guard let file = fopen(path, "w") else { throw SiteFailed("\(path) cannot be written") }
        let isWritten = block.withUnsafeBytes { bytes in
            (0..<times).allSatisfy { _ in fwrite(bytes.baseAddress, 1, bytes.count, file) == bytes.count }
        }
        guard fclose(file) == 0, isWritten else { throw SiteFailed("\(path) cannot be written. Is the disk full?") }
    }

    /// Compares a file with the content.
    ///
    /// - Throws: `WorkMissing`, if the file is not the block repeated this many times.
    static func check(fileAt path: String, mebibytes: Int) throws {
        guard let file = fopen(path, "r") else { throw WorkMissing("\(path) is missing") }
        defer { fclose(file) }
        var (check, bytes) = (Check(), [UInt8](repeating: 0, count: 1 << 20))
        while case let count = fread(&bytes, 1, bytes.count, file), count > 0 {
            bytes.withUnsafeBytes { check.take(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
        try check.finish(mebibytes: mebibytes)
    }

    /// A comparison of bytes as they arrive.
    struct Check {
        private var count = 0
        private var isRight = true

        mutating func take(_ bytes: UnsafeRawBufferPointer) {
            var left = bytes
            while !left.isEmpty {
                let offset = count % block.count
                let length = min(left.count, block.count - offset)
                let isSame = block.withUnsafeBytes { memcmp($0.baseAddress! + offset, left.baseAddress!, length) == 0 }
                isRight = isRight && isSame
                count += length
                left = UnsafeRawBufferPointer(rebasing: left[length...])
            }
        }

        /// Ends the comparison.
        ///
        /// - Throws: `WorkMissing`, if the bytes are not the block repeated this many times.
        func finish(mebibytes: Int) throws {
            guard count == mebibytes << 20 else { throw WorkMissing("\(count) bytes arrived") }
            guard isRight else { throw WorkMissing("the received bytes are wrong") }
        }
    }
}
