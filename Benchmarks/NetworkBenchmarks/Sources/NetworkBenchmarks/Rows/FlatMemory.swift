import AsyncHTTPClient
import Glibc
import NIOCore
import HTTPTypes
import Operations
import OperationsNetworking

extension Row {
    static func flatMemory(_ scale: Scale) -> Row {
        let big = scale.mebibytes
        let entries = GrowthTask.allCases.map { task in
            Entry(contender: task.contender, bars: task == .bare ? [] : [.atMost(16, .growth)]) { site in
                [.growth: try task.runInChild(site, mebibytes: big)]
            }
        }
        let curl = Entry(contender: .curl, manner: "against a small one") { try FlatMemory.curl($0) }
        return Row(
            number: 3, question: "flat memory", work: "\(big) MiB after \(Content.warmMebibytes) MiB, every byte read",
            needsBigFile: true, measures: [.growth], entries: entries + [curl])
    }
}

enum FlatMemory {
    /// Measures the difference between the peaks of a process that loads the large file and one that loads the small file.
    static func curl(_ site: Site) throws -> Sample {
        let program = try Contender.curl.installed()
        let peaks = try [Content.warmName, Content.bigName].map { name in
            let (target, output) = ("\(site.folder)/downloaded", "\(site.folder)/curl.output")
            defer { Folder.remove(target) }
            return try program.run(["--silent", "--fail", "-o", target, "\(site.address)/\(name)"], output: output).peak
        }
        return [.growth: peaks[1] - peaks[0]]
    }
}

/// A task in a separate process that loads a small file and then a large one. The task prints by how many KiB the large file
/// raised the peak of resident memory.
enum GrowthTask: String, CaseIterable {
    case stream, download, bare

    var contender: Contender {
        switch self {
        case .stream: .stream
        case .download: .download
        case .bare: .bare
        }
    }

    // MARK: - Parent process

    func runInChild(_ site: Site, mebibytes: Int) throws -> Double {
        let output = "\(site.folder)/growth.output"
        let arguments = ["--growth", rawValue, "--site", site.address, "--folder", site.folder]
        try Program.own.run(arguments + (mebibytes == Scale.quick.mebibytes ? ["--quick"] : []), output: output)
        guard let kibibytes = Int(try Folder.text(of: output).prefix { $0 != "\n" }) else {
            throw WorkMissing("the process printed no figure")
        }
        return Double(kibibytes) / 1024
    }

    // MARK: - Child process

    func perform(at address: String, in folder: String, mebibytes: Int) async throws {
        let session = HTTPSession()
        try await load("\(address)/\(Content.warmName)", in: folder, session, Content.warmMebibytes)
        try ResidentMemory.resetPeak()
        let before = try ResidentMemory.peak
        try await load("\(address)/\(Content.bigName)", in: folder, session, mebibytes)
        print(try ResidentMemory.peak - before)
    }

    private func load(_ url: String, in folder: String, _ session: HTTPSession, _ mebibytes: Int) async throws {
        var check = Content.Check()
        switch self {
        case .stream:
            let operation = HTTPStreamOperation(HTTPRequestDescription(.get, url), session: session)
            OperationQueue().addOperation(operation)
            for try await bytes in operation.body { bytes.withUnsafeBytes { check.take($0) } }
            try check.finish(mebibytes: mebibytes)
        case .download:
            let target = "\(folder)/downloaded"
            defer { Folder.remove(target) }
            let operation = HTTPDownloadOperation(HTTPRequestDescription(.get, url), to: target, session: session)
            OperationQueue().addOperation(operation)
            try Content.check(fileAt: try await operation.value, mebibytes: mebibytes)
        case .bare:
            let response = try await HTTPClient.shared.execute(HTTPClientRequest(url: url), timeout: .minutes(5))
            for try await bytes in response.body { bytes.withUnsafeReadableBytes { check.take($0) } }
            try check.finish(mebibytes: mebibytes)
        }
    }
}

/// The resident memory of this process, as the kernel counts it.
private enum ResidentMemory {
    /// The peak in KiB since the last reset.
    static var peak: Int {
        get throws {
            for line in try Folder.text(of: "/proc/self/status").split(separator: "\n") {
                guard line.hasPrefix("VmHWM:") else { continue }
                if let number = line.split(whereSeparator: { " \t".contains($0) }).dropFirst().first.flatMap({ Int($0) }
                ) {
                    return number
                }
            }
            throw WorkMissing("/proc/self/status reports no peak")
        }
    }

    /// Resets the peak to the present memory.
    static func resetPeak() throws {
        guard let file = fopen("/proc/self/clear_refs", "w") else {
            throw WorkMissing("/proc/self/clear_refs cannot be written")
        }
        let isWritten = fputs("5", file) >= 0
        guard fclose(file) == 0, isWritten else { throw WorkMissing("the peak cannot be reset") }
    }
}
