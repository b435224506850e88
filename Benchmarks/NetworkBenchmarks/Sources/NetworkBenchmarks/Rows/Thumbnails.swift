import Glibc
import Operations
import OperationsImages

extension Row {
    static func thumbnails(_ scale: Scale) -> Row {
        let work = Thumbnails(count: scale.photographs)
        let bars: [Bar] = [.ahead(of: .vipsthumbnail)]
        return Row(
            number: 5, question: "thumbnails",
            work: "\(work.count) JPEGs of 2 to 4 megapixels to JPEGs of \(Thumbnails.size) pixels, on "
                + "\(Thumbnails.cores) cores",
            reference: .vipsthumbnail, measures: [.time, .processorTime],
            entries: [
                Entry(contender: .decoder, manner: "OperationQueue with limit \(Thumbnails.cores)", bars: bars) {
                    try await work.decoder($0)
                },
                Entry(contender: .vipsthumbnail, manner: "one process, one by one") { try work.vipsthumbnail($0) },
            ])
    }
}

/// The creation of thumbnails: reads, decodes, scales, encodes and writes.
struct Thumbnails {
    static let size = 256
    static let quality = 75
    static let cores = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))

    let count: Int

    func decoder(_ site: Site) async throws -> Sample {
        let (sources, folder) = (try sources(site), "\(site.folder)/thumbnails")
        try Folder.make(folder)
        defer { Folder.remove(folder) }
        let watch = Stopwatch()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = Self.cores
        let options = ImageDecodingOptions(maxPixelSize: Self.size)
        let operations = sources.enumerated().map { index, source in
            let operation = TaskOperation {
                let decoded = try StandardImageDecoder().decode(
                    try Folder.bytes(of: source), options: options, isCancelled: { false })
                try Folder.write(decoded.encoded(as: .jpeg, quality: Self.quality), to: "\(folder)/\(index).jpg")
            }
            queue.addOperation(operation)
            return operation
        }
        for operation in operations { try await operation.value }
        let sample = watch.sample
        try check(folder)
        return sample
    }

    func vipsthumbnail(_ site: Site) throws -> Sample {
        let (sources, folder) = (try sources(site), "\(site.folder)/thumbnails")
        try Folder.make(folder)
        defer { Folder.remove(folder) }
        let arguments = [
            "--size", "\(Self.size)", "--vips-concurrency", "\(Self.cores)", "-o",
            "\(folder)/%s.jpg[Q=\(Self.quality)]",
        ]
        let run = try Contender.vipsthumbnail.installed()
            .run(arguments + sources, output: "\(site.folder)/vips.output")
        try check(folder)
        return run.sample
    }

    private func check(_ folder: String) throws {
        let names = try Folder.names(folder)
        guard names.count == count else { throw WorkMissing("\(names.count) thumbnails were made") }
        for name in names {
            let header = try ImageHeader(try Folder.bytes(of: "\(folder)/\(name)"))
            guard header.format == .jpeg, max(header.width, header.height) == Self.size else {
                throw WorkMissing("\(name) is \(header.width) × \(header.height)")
            }
        }
    }

    // MARK: - Photographs

    private static let sizes = [(2000, 1000), (1920, 1280), (1536, 2048), (2048, 1536), (2400, 1600), (1600, 2500)]

    /// Few images under many names, because reading is not measured.
    private func sources(_ site: Site) throws -> [String] {
        let folder = "\(site.folder)/photographs"
        let paths = (0..<count).map { "\(folder)/\($0).jpg" }
        if let names = try? Folder.names(folder), names.count == count { return paths }
        Folder.remove(folder)
        try Folder.make(folder)
        for (index, path) in paths.enumerated() {
            if index < Self.sizes.count {
                try Folder.write(try Self.photograph(Self.sizes[index], seed: UInt64(index + 1)), to: path)
            } else {
                try Folder.link(paths[index % Self.sizes.count], as: path)
            }
        }
        return paths
    }

    /// Smooth colors with noise, with about as many bytes as a photograph.
    private static func photograph(_ size: (width: Int, height: Int), seed: UInt64) throws -> [UInt8] {
        var state = seed &* 0x9e37_79b9_7f4a_7c15
        var pixels: [UInt8] = []
        pixels.reserveCapacity(size.width * size.height * 4)
        for y in 0..<size.height {
            for x in 0..<size.width {
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                let (noise, waves) = (Int(state & 15), (x * x / 4096 + y * y / 8192) & 127)
                pixels.append(UInt8(clamping: 127 * x / size.width + waves / 2 + noise))
                pixels.append(UInt8(clamping: 127 * y / size.height + waves + noise))
                pixels.append(UInt8(clamping: 200 - waves + noise))
                pixels.append(255)
            }
        }
        guard let image = RasterImage(width: size.width, height: size.height, pixels: pixels) else {
            throw SiteFailed("an image cannot be created")
        }
        return try image.encoded(as: .jpeg, quality: 90)
    }
}
