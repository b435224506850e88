#if Networking
import HTTPTypes
import LoopbackServer
import OperationsImages
import OperationsNetworking
import OperationsTesting
import TestSupport

/// Decodes files that say their size in their first line, and nothing else: `40x20`. Counts, and waits at gates.
final class StubDecoder: ImageDecoder {
    /// What was asked, in order.
    let calls = Journal<ImageDecodingOptions>()
    /// How often it found that nobody wants the image any longer.
    let givenUp = Guarded(0)
    private let gates: (begun: AsyncGate, goesOn: Gate)?

    init() { gates = nil }

    /// Tells that it has begun so often, and goes on when the other gate is open.
    init(begun: AsyncGate, goesOn: Gate) { gates = (begun, goesOn) }

    func decode(_ data: [UInt8], options: ImageDecodingOptions, isCancelled: () -> Bool) throws -> DecodedImage {
        calls.append(options)
        if let gates {
            gates.begun.open()
            gates.goesOn.pass()
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
    /// What the stub decodes to such a size, with so many bytes behind it.
    static func image(_ width: Int, _ height: Int, padding: Int64 = 0) -> LoopbackResponse {
        var text = "\(width)x\(height)\n"
        if padding > 0 { text += String(repeating: " ", count: Int(padding)) }
        return LoopbackResponse(fields: [.contentType: "image/png"], body: .text(text))
    }
}

/// A server of images of 4 times 2 pixels, each of which waits at a gate.
func withHeldImages(_ body: (LoopbackServer, LoopbackGate) async throws -> Void) async throws {
    let gate = LoopbackGate()
    try await LoopbackServer.with(handler: { _ in
        try? await gate.pass()
        return .image(4, 2)
    }) { try await body($0, gate) }
}

extension HTTPSession {
    /// No time passes for it, unless the test says so.
    static func still(_ clock: VirtualClock = VirtualClock(), cache: HTTPCache? = nil) -> HTTPSession {
        var configuration = Configuration()
        configuration.setClock(clock)
        // Which is measured by no clock of ours: where a connection is held up, the system tries again after a minute.
        configuration.connectTimeout = .seconds(86_400)
        configuration.cache = cache
        return HTTPSession(configuration)
    }
}

extension ImageLoader {
    /// Neither disk nor passing time, unless the test says so.
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

extension ImageToken {
    /// Where it came from, or why there is none, in a few words.
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

    /// Why there is no image.
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
#endif
