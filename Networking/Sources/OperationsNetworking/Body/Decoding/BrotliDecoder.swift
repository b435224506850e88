import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The functions of the Brotli decoder library. The library is loaded at first use, so that building and running work without
/// it.
struct Brotli: Sendable {
    typealias State = OpaquePointer
    typealias Make =
        @convention(c) @Sendable (OpaquePointer?, OpaquePointer?, UnsafeMutableRawPointer?) -> State?
    typealias Destroy = @convention(c) @Sendable (State?) -> Void
    typealias Decode =
        @convention(c) @Sendable (
            State?, UnsafeMutablePointer<Int>, UnsafeMutablePointer<UnsafePointer<UInt8>?>, UnsafeMutablePointer<Int>,
            UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, UnsafeMutablePointer<Int>?
        ) -> CInt
    typealias ErrorCode = @convention(c) @Sendable (State?) -> CInt
    typealias ErrorText = @convention(c) @Sendable (CInt) -> UnsafePointer<CChar>?

    let make: Make
    let destroy: Destroy
    let decode: Decode
    let errorCode: ErrorCode
    let errorText: ErrorText

    static let shared = Brotli()

    /// Loads the library by its ABI version, which has been the same since the first release.
    private init?() {
        #if canImport(Darwin)
        let names = ["libbrotlidec.1.dylib", "/opt/homebrew/lib/libbrotlidec.1.dylib"]
        #else
        let names = ["libbrotlidec.so.1"]
        #endif
        // Never closed: the functions are used until the process exits.
        guard let library = names.lazy.compactMap({ dlopen($0, RTLD_NOW | RTLD_LOCAL) }).first else { return nil }
        func function<Function>(_ name: String, _: Function.Type) -> Function? {
            dlsym(library, name).map { unsafeBitCast($0, to: Function.self) }
        }
        guard let make = function("BrotliDecoderCreateInstance", Make.self),
            let destroy = function("BrotliDecoderDestroyInstance", Destroy.self),
            let decode = function("BrotliDecoderDecompressStream", Decode.self),
            let errorCode = function("BrotliDecoderGetErrorCode", ErrorCode.self),
            let errorText = function("BrotliDecoderErrorString", ErrorText.self)
        else { return nil }
        (self.make, self.destroy, self.decode) = (make, destroy, decode)
        (self.errorCode, self.errorText) = (errorCode, errorText)
    }
}

/// A decoder of Brotli (RFC 7932).
final class BrotliDecoder: ContentDecoder {
    private let brotli: Brotli
    private let state: Brotli.State?
    private(set) var isAtEnd = false

    init(_ brotli: Brotli) {
        self.brotli = brotli
        state = brotli.make(nil, nil, nil)
    }

    deinit { brotli.destroy(state) }

    func decode(_ input: inout ByteBuffer, into output: inout ByteBuffer) throws -> Bool {
        guard let state else { throw TransferFailure(.undecodableEncoding("out of memory for the Brotli decoder")) }
        if isAtEnd {
            guard input.readableBytes == 0 else { throw hasMoreAfterEnd }
            return false
        }
        var status: CInt = 0
        step(&input, &output) { bytes, room in
            var (input, output) = (bytes.count, room.count)
            var (from, to) = (bytes.baseAddress, room.baseAddress)
            status = brotli.decode(state, &input, &from, &output, &to, nil)
            return (input, output)
        }
        switch status {
        case 1:
            isAtEnd = true
            return false
        // The decoder needs input. A full output buffer means that more output may follow as well.
        case 2: return output.writableBytes == 0
        case 3: return true
        default:
            let text = brotli.errorText(brotli.errorCode(state)).map { String(cString: $0) }
            throw TransferFailure(.undecodableEncoding(text ?? "unknown Brotli error"))
        }
    }
}
