import Foundation
import HTTPCaching
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A cache uses directories and files of its own user only (rule C1).
@Suite struct CacheOwnerTests {
    /// Another user. Only root can give files to another user.
    private static let stranger: uid_t = 12345

    enum Part: String, CaseIterable, Sendable { case directory, bodies, unfinished, index, link }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"), arguments: Part.allCases)
    func `a cache does not use files of another user`(part: Part) async throws {
        let parent = try TemporaryDirectory()
        let path = "\(parent.path)/cache"
        do {
            let cache = try HTTPCache(directory: path)
            await cache.load(get(), answer(200, "Cache-Control: max-age=60"))
            #expect(await cache.outcome(get()) == "body")
            await cache.opened()
        }
        switch part {
        case .directory: #expect(chown(path, Self.stranger, 0) == 0)
        case .bodies, .unfinished: #expect(chown("\(path)/\(part.rawValue)", Self.stranger, 0) == 0)
        case .index:
            for name in try FileManager.default.contentsOfDirectory(atPath: path) where name.contains("sqlite") {
                #expect(chown("\(path)/\(name)", Self.stranger, 0) == 0)
            }
        case .link:
            #expect(rename(path, path + ".real") == 0 && symlink(path + ".real", path) == 0)
            #expect(lchown(path, Self.stranger, 0) == 0)
        }
        let reported = Reported()
        if part == .directory || part == .link {
            let error = #expect(throws: HTTPCacheError.self) { try HTTPCache(directory: path) }
            #expect(error?.description.contains("another user") == true, "\(error as Any)")
        } else {
            let cache = try HTTPCache(directory: path) { reported.note($0) }
            #expect(await cache.outcome(get()) == "load")
            #expect(await !cache.load(get(), answer(200, "Cache-Control: max-age=60")))
            await reported.untilNoted()
        }
    }

    @Test(arguments: [0o777, 0o775, 0o1777] as [mode_t])
    func `a directory that other users can write to loses their permission`(mode: mode_t) throws {
        let directory = try TemporaryDirectory()
        #expect(chmod(directory.path, mode) == 0)
        _ = try HTTPCache(directory: directory.path)
        var status = stat()
        #expect(stat(directory.path, &status) == 0 && status.st_mode & 0o022 == 0)
    }
}

/// The first report of a cache.
private final class Reported: @unchecked Sendable {
    // `@unchecked Sendable` is safe because the stream is Sendable.
    private let (stream, continuation) = AsyncStream.makeStream(of: String.self)

    func note(_ error: HTTPCacheError) { continuation.yield("\(error)") }

    func untilNoted() async {
        for await text in stream {
            #expect(text.contains("another user"), "\(text)")
            return
        }
    }
}
