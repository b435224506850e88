import HTTPTypes
import HTTPTestServer
import OperationsImages
import OperationsNetworking
import OperationsTesting
import TestSupport

/// A decoder of text files whose first line contains the image's size, such as `40x20`. The decoder records its calls
/// and can wait at gates.
final class StubDecoder: ImageDecoder {
    /// The options of the calls, in order.
    let calls = Journal<ImageDecodingOptions>()
    /// The number of decodings that detected a cancellation.
    let givenUp = Guarded(0)
    private let gates: (begun: AsyncGate, mayContinue: Gate)?

    init() { gates = nil }

    /// Creates a decoder that opens the gate `begun` when it starts, and continues when the other gate opens.
    init(begun: AsyncGate, mayContinue: Gate) { gates = (begun, mayContinue) }

    func decode(_ data: [UInt8], options: ImageDecodingOptions, isCancelled: () -> Bool) throws -> DecodedImage {
        calls.append(options)
        if let gates {
            gates.begun.open()
            gates.mayContinue.pass()
        }
        if isCancelled() {
            givenUp.withLock { $0 += 1 }
            throw ImageError.cancelled
        }
        guard !data.isEmpty else { throw ImageError.emptyData }
        let line = String(decoding: data.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        let sides = line.split(separator: "x").map { Int($0) ?? -1 }
        guard sides.count == 2, sides[0] >= 0, sides[1] >= 0 else { throw ImageError.unknownFormat }
        guard sides[0] > 0, sides[1] > 0 else { throw ImageError.zeroSize(.png) }
        let needed = sides[0] * sides[1] * 4
        guard needed <= options.memoryLimit else {
            throw ImageError.tooLarge(neededBytes: needed, allowedBytes: options.memoryLimit)
        }
        let longer = max(sides[0], sides[1])
        let part = Double(min(longer, options.maxPixelSize ?? longer)) / Double(longer)
        let (width, height) = (max(1, Int(Double(sides[0]) * part)), max(1, Int(Double(sides[1]) * part)))
        return DecodedImage(TestPicture.plain(width, height, [UInt8(truncatingIfNeeded: longer), 1, 2, 255]))
    }
}

extension LoopbackResponse {
    /// Returns an image of this size for the stub decoder, with additional bytes after the first line.
    static func image(_ width: Int, _ height: Int, padding: Int64 = 0) -> LoopbackResponse {
        var text = "\(width)x\(height)\n"
        if padding > 0 { text += String(repeating: " ", count: Int(padding)) }
        return LoopbackResponse(fields: [.contentType: "image/png"], body: .text(text))
    }
}

/// Runs a test with a server of images of 4 × 2 pixels. Each response waits at the gate.
func withHeldImages(_ body: (HTTPTestServer, LoopbackGate) async throws -> Void) async throws {
    let gate = LoopbackGate()
    try await HTTPTestServer.with(handler: { _ in
        try? await gate.pass()
        return .image(4, 2)
    }) { try await body($0, gate) }
}

extension HTTPSession {
    /// Returns a session with a virtual clock, which only the test advances.
    static func still(_ clock: VirtualClock = VirtualClock(), cache: HTTPCache? = nil) -> HTTPSession {
        var configuration = Configuration()
        configuration.setClock(clock)
        // No virtual clock measures this limit. If a connection is delayed, the system tries again after a minute.
        configuration.connectTimeout = .seconds(86_400)
        configuration.cache = cache
        return HTTPSession(configuration)
    }
}

extension ImageLoader {
    /// Returns a loader without a disk cache and with a virtual clock, unless the test changes the configuration.
    static func plain(
        _ decoder: any ImageDecoder = StubDecoder(), _ change: (inout Configuration) -> Void = { _ in }
    ) -> ImageLoader {
        var configuration = Configuration()
        configuration.session = .still()
        configuration.setClock(VirtualClock())
        configuration.decoder = decoder
        change(&configuration)
        return ImageLoader(configuration)
    }
}

extension ImageRequestHandle {
    /// A short text with the size and the source of the image, or with the reason for the failure.
    var ending: String {
        get async {
            do {
                let loaded = try await value
                return "\(loaded.image.width)x\(loaded.image.height) \(loaded.source)"
            } catch {
                return "\(error.reason)".split(separator: "(")[0].description
            }
        }
    }

    /// The error, or nil if the image was loaded.
    var failure: ImageLoadError? {
        get async {
            do {
                _ = try await value
                return nil
            } catch {
                return error
            }
        }
    }
}
