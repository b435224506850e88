import Crypto
import HTTPTypes
import Operations
import OperationsNetworking

extension Row {
    static func bigDownload(_ scale: Scale) -> Row {
        let work = BigDownload(mebibytes: scale.mebibytes)
        return Row(
            number: 2, question: "a large download", work: "\(work.mebibytes) MiB to a file", reference: .curl,
            needsBigFile: true, measures: [.time, .processorTime],
            entries: [
                Entry(contender: .download, bars: [.within(percent: 5, of: .curl)]) {
                    try await work.download($0, digest: nil)
                },
                Entry(contender: .download, manner: "digest checked") {
                    try await work.download($0, digest: work.digest)
                },
                Entry(contender: .curl, manner: "-o") { try work.curl($0) },
            ])
    }
}

/// A download of a large file from nginx, which is then compared with the original.
struct BigDownload {
    let mebibytes: Int

    var digest: HTTPDigest? {
        var hash = SHA256()
        for _ in 0..<mebibytes { hash.update(data: Content.block) }
        let digits = hash.finalize().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return HTTPDigest(sha256: digits)
    }

    func download(_ site: Site, digest: HTTPDigest?) async throws -> Sample {
        let target = "\(site.folder)/downloaded"
        defer { Folder.remove(target) }
        let watch = Stopwatch()
        let operation = HTTPDownloadOperation(
            HTTPRequestDescription(.get, "\(site.address)/\(Content.bigName)"), to: target, digest: digest,
            session: HTTPSession())
        OperationQueue().addOperation(operation)
        _ = try await operation.value
        let sample = watch.sample
        try Content.check(fileAt: target, mebibytes: mebibytes)
        return sample
    }

    func curl(_ site: Site) throws -> Sample {
        let target = "\(site.folder)/downloaded"
        defer { Folder.remove(target) }
        let arguments = ["--silent", "--fail", "-o", target, "\(site.address)/\(Content.bigName)"]
        let run = try Contender.curl.installed().run(arguments, output: "\(site.folder)/curl.output")
        try Content.check(fileAt: target, mebibytes: mebibytes)
        return run.sample
    }
}
