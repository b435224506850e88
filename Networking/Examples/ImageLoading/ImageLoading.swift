import Foundation
import HTTPTestServer
import HTTPTypes
import Operations
import OperationsImages
import OperationsNetworking

// Foundation has classes of these names too.
typealias Operation = Operations.Operation
typealias OperationQueue = Operations.OperationQueue

/// Loads photographs from a server on this machine: shared transfers, sizes, caches, priorities, pauses. The program checks
/// each fact before it prints the fact. The first fact that does not hold ends the program with status 1.
@main enum ImageLoading {
    static func main() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "image-loading-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let album = try Album()
        try await sharing(album)
        try await caching(album, folder.path)
        try await rising(album)
        try await pausing(album)
        try await prefetching(album)
        print("All of this is as it should be.")
    }

    /// Loads a photograph for nine views, in three sizes.
    static func sharing(_ album: Album) async throws {
        try await HTTPTestServer.with(handler: { album.photo.response(to: $0) }) { server in
            let loader = ImageLoader()
            let sizes = [64, 256, 1024]
            let handles = (0..<9).map { loader.load(server.url + "/photo.jpg", options: .thumbnail(sizes[$0 % 3])) }
            for (index, handle) in handles.enumerated() {
                let image = try await handle.value.image
                check(image.width == sizes[index % 3] && image.height == image.width * 3 / 4, "a size is right")
                check(image.format == .jpeg, "it is a JPEG")
            }
            let count = server.requests.count
            check(count == 1, "one transfer")
            print("Nine requests for three sizes made \(count) transfer of \(album.photo.body.length) bytes.")
            check(loader.imageInMemory(server.url + "/photo.jpg", options: .thumbnail(64)) != nil, "it is in memory")
            print("In memory: \(loader.memoryCount) images of \(loader.memoryByteCount) bytes.")
        }
    }

    /// Loads a drawing twice with a disk cache, as after a restart of the program.
    static func caching(_ album: Album, _ folder: String) async throws {
        try await HTTPTestServer.with(handler: { album.drawing.response(to: $0) }) { server in
            var configuration = ImageLoader.Configuration()
            configuration.cache = try HTTPCache(directory: folder)
            for start in 1...2 {
                let loader = ImageLoader(configuration)
                let first = try await loader.load(server.url + "/drawing.png", options: .thumbnail(100)).value
                let again = try await loader.load(server.url + "/drawing.png", options: .thumbnail(100)).value
                await loader.waitUntilIdle()
                check(first.source == (start == 1 ? .network : .disk), "first from the network, then from disk")
                check(again.source == .memory && again.image == first.image, "then from memory")
                print("Start \(start): from \(first.source.rawValue), then from \(again.source.rawValue).")
            }
            check(server.requests.count == 1, "the second start asked nobody")
        }
    }

    /// Raises the priority of one of six waiting photographs.
    static func rising(_ album: Album) async throws {
        let gate = LoopbackGate()
        try await HTTPTestServer.with(handler: { request in
            try? await gate.pass()
            return album.drawing.response(to: request)
        }) { server in
            var configuration = ImageLoader.Configuration()
            configuration.maxConcurrentTransfers = 1
            let loader = ImageLoader(configuration)
            let handles = (1...6).map { loader.load("\(server.url)/\($0)", priority: .low) }
            await gate.reached()
            let visible = loader.load(server.url + "/5", priority: .high)
            check(visible.transfer === handles[4].transfer, "it has joined the transfer")
            check(visible.transfer?.queuePriority == .high, "the transfer has risen")
            gate.open()
            for handle in handles + [visible] { _ = try await handle.value }
            let order = server.requests.map { String($0.path.dropFirst()) }
            check(order == ["1", "5", "2", "3", "4", "6"], "what is visible comes next: \(order)")
            print("Photograph 5 was scrolled into view: they came as \(order.joined(separator: ", ")).")
        }
    }

    /// Pauses and resumes a transfer, as for a train in a tunnel.
    static func pausing(_ album: Album) async throws {
        let gate = LoopbackGate()
        let half = album.photo.body.length / 2
        try await HTTPTestServer.with(handler: { request in
            let response = album.photo.response(to: request)
            return request.number == 1 ? response.with(.stalls(.afterBody(half), until: gate)) : response
        }) { server in
            let loader = ImageLoader()
            let handle = loader.load(server.url + "/photo.jpg", options: .thumbnail(256))
            guard let transfer = handle.transfer else { return fail("nothing transfers") }
            for await progress in transfer.downloadProgressUpdates() where progress.completedBytes == half { break }
            handle.pause()
            await server.openConnections(are: 0)
            check(handle.result == nil, "it waits")
            handle.resume()
            let image = try await handle.value.image
            check(image.width == 256, "the image is whole")
            let range = server.requests.last?.fields[.range] ?? "no range"
            check(range == "bytes=\(half)-", "the transfer continued where it stopped: \(range)")
            print("Paused after \(half) bytes, the transfer continued with \(range).")
        }
    }

    /// Loads photographs ahead, and one that does not exist.
    static func prefetching(_ album: Album) async throws {
        try await HTTPTestServer.with(handler: { request in
            request.path.hasSuffix("7") ? .notFound : album.drawing.response(to: request)
        }) { server in
            let loader = ImageLoader()
            let prefetcher = ImagePrefetcher((0..<10).map { "\(server.url)/\($0)" }, with: loader)
            for await progress in prefetcher.progressUpdates where progress.isComplete {
                check(progress.finished == 10 && progress.failed == 1, "nine came")
                print("Ahead: \(progress.finished) of \(progress.total), \(progress.failed) failed.")
            }
            check(loader.imageInMemory(server.url + "/3") != nil, "they are there at once")
            do throws(ImageLoadError) {
                _ = try await loader.load(server.url + "/7").value
                fail("there is no seventh")
            } catch {
                guard case .failedBefore(.unacceptableStatus(404)) = error.reason else { return fail("\(error)") }
                print("The seventh: \(error.reason.explanation).")
            }
        }
    }

    static func check(_ isSo: Bool, _ fact: String) { if !isSo { fail(fact) } }

    static func fail(_ fact: String) {
        FileHandle.standardError.write(Data("Not so: \(fact)\n".utf8))
        exit(1)
    }
}

/// Two generated pictures: a photograph and a drawing.
struct Album: Sendable {
    let photo: LoopbackResource
    let drawing: LoopbackResource

    init() throws {
        let sky = try Self.picture(1600, 1200) { x, y in [UInt8(x * y % 256), UInt8(y / 5), UInt8(x / 7), 255] }
        let lines = try Self.picture(400, 300) { x, y in (x + y) % 40 < 3 ? [0, 0, 0, 255] : [255, 255, 255, 0] }
        photo = LoopbackResource(
            .bytes(try sky.encoded(as: .jpeg, quality: 90)), contentType: "image/jpeg", eTag: "\"sky\"")
        drawing = LoopbackResource(.bytes(try lines.encoded(as: .png)), contentType: "image/png", eTag: "\"lines\"")
    }

    private static func picture(_ width: Int, _ height: Int, _ pixel: (Int, Int) -> [UInt8]) throws -> RasterImage {
        var pixels: [UInt8] = []
        pixels.reserveCapacity(width * height * 4)
        for y in 0..<height { for x in 0..<width { pixels += pixel(x, y) } }
        guard let image = RasterImage(width: width, height: height, pixels: pixels) else {
            throw ImageError.unencodable(.png, reason: "there are not as many pixels as the size says")
        }
        return image
    }
}
