#if Fetch
import Dispatch
import Foundation
import HTTPCore
import Operations
import OperationsImages
import OperationsNetworking
import Synchronization

/// The downloads of a list, with the work that follows each download.
final class Fetch: Sendable {
    enum Outcome: Sendable { case downloaded(Int64), kept, copied, failed(String), cancelled }

    private struct State {
        var outcomes: [Outcome] = []
        var report: (@Sendable (String, Bool) -> Bool)?
        /// Whether the output cannot be written any more.
        var isUnread = false
    }

    private let client: HTTPClientQueue
    /// The queue of work that needs a processor and no connection.
    private let work = Operations.OperationQueue()
    let folder: String
    private let thumbnail: Int?
    private let items: [FetchList.Item]
    private let state = Mutex(State())
    private let downloads = Mutex<[HTTPDownloadOperation]>([])
    private let start = ContinuousClock.now
    let count: Int

    init(
        _ items: [FetchList.Item], to folder: String, width: Int, perHost: Int, session: HTTPSession, thumbnail: Int?
    ) throws {
        client = try HTTPClientQueue(
            maxConcurrentRequests: width, maxConcurrentRequestsPerHost: perHost, session: session)
        self.items = items
        self.folder = folder
        self.thumbnail = thumbnail
        count = items.count
        work.maxConcurrentOperationCount = ProcessInfo.processInfo.activeProcessorCount
        if thumbnail != nil {
            try Self.makeFolder(folder + "/thumbnails")
        }
    }

    /// Cancels the downloads. Partial files stay, and another run continues them.
    func cancel() { client.cancelAll() }

    /// Downloads all items, and returns after the last one.
    ///
    /// - Parameter report: Receives a line for each finished item, and whether the item failed. If it returns false, the output
    ///   cannot be written, and the remaining downloads are cancelled.
    func run(_ report: @escaping @Sendable (String, Bool) -> Bool) {
        state.withLock { $0.report = report }
        var first: [FetchList.Content: (download: HTTPDownloadOperation?, item: FetchList.Item)] = [:]
        client.isSuspended = true
        for item in items {
            let standing = standing(item)
            switch standing {
            case .noFile:
                ended(item, .failed("'\(path(item))' exists and is not a file"))
            case .complete:
                if first[item.content] == nil { first[item.content] = (nil, item) }
                ended(item, .kept)
            case .nothing, .anotherFile:
                let replaces = standing == .anotherFile
                if let (download, original) = first[item.content] {
                    let copy = Operations.BlockOperation { [self] in
                        self.copied(original, to: item, download, replaces: replaces)
                    }
                    if let download { copy.addDependency(download) }
                    work.addOperation(copy)
                } else {
                    first[item.content] = (begin(item, replaces: replaces), item)
                }
            }
        }
        client.isSuspended = false
        work.waitUntilAllOperationsAreFinished()
        client.queue.waitUntilAllOperationsAreFinished()
    }

    func path(_ item: FetchList.Item) -> String { folder + "/" + item.name }

    private func begin(_ item: FetchList.Item, replaces: Bool) -> HTTPDownloadOperation {
        let download = client.download(item.url, to: path(item), digest: item.digest)
        downloads.withLock { $0.append(download) }
        let after = Operations.BlockOperation { [self] in self.downloaded(item, download, replaces: replaces) }
        after.addDependency(download)
        work.addOperation(after)
        return download
    }

    private func downloaded(_ item: FetchList.Item, _ download: HTTPDownloadOperation, replaces: Bool) {
        switch download.result {
        case .success?:
            makeThumbnail(of: item)
            ended(item, .downloaded(download.metrics.received), replaces: replaces)
        case .failure(let error as HTTPError)? where error.isCancellation: ended(item, .cancelled)
        case .failure(let error)?: ended(item, .failed("\(error)"))
        case nil: break
        }
    }

    private func copied(
        _ original: FetchList.Item, to item: FetchList.Item, _ download: HTTPDownloadOperation?, replaces: Bool
    ) {
        if let download, case .failure(let error)? = download.result {
            return ended(item, (error as? HTTPError)?.isCancellation == true ? .cancelled : .failed("\(error)"))
        }
        do {
            try copy(original, to: item)
            ended(item, .copied, replaces: replaces)
        } catch {
            ended(item, .failed("\(error)"))
        }
    }

    private func makeThumbnail(of item: FetchList.Item) {
        guard let thumbnail else { return }
        do {
            let data = try Data(contentsOf: URL(filePath: folder + "/" + item.name))
            let image = try StandardImageDecoder().decode(
                Array(data), options: ImageDecodingOptions(maxPixelSize: thumbnail))
            let bytes = try image.encoded(as: .jpeg)
            try Data(bytes).write(to: URL(filePath: "\(folder)/thumbnails/\(item.name).jpg"), options: .atomic)
        } catch {
            report("no thumbnail  \(item.name)  \(error)", isFailure: true)
        }
    }

    private func ended(_ item: FetchList.Item, _ outcome: Outcome, replaces: Bool = false) {
        state.withLock { $0.outcomes.append(outcome) }
        let predecessor = replaces ? ", replaced a file with another digest" : ""
        switch outcome {
        case .downloaded(let bytes):
            report("downloaded  \(item.name)  \(Self.text(bytes))\(predecessor)", isFailure: false)
        case .kept: report("kept        \(item.name)", isFailure: false)
        case .copied: report("copied      \(item.name)\(predecessor)", isFailure: false)
        case .failed(let reason): report("failed      \(item.name)  \(reason)", isFailure: true)
        case .cancelled: break
        }
    }

    private func report(_ line: String, isFailure: Bool) {
        guard let report = state.withLock({ $0.report }), !report(line, isFailure) else { return }
        let isNews = state.withLock { state in
            defer { state.isUnread = true }
            return !state.isUnread
        }
        if isNews { cancel() }
    }

    // MARK: - Progress

    /// Whether an item was not fetched, or the output could not be written.
    var hasFailures: Bool {
        state.withLock { state in
            state.isUnread || state.outcomes.contains { if case .failed = $0 { true } else { false } }
        }
    }

    /// The progress in one line for a terminal.
    var status: String {
        let ended = state.withLock { $0.outcomes.count }
        let downloads = downloads.withLock { $0 }
        let received = downloads.reduce(0) { $0 + $1.metrics.received }
        let rate = Double(received) / max((ContinuousClock.now - start) / .seconds(1), 0.001)
        return "\(ended) of \(count)  \(Self.text(received))  \(Self.text(Int64(rate)))/s"
    }

    var summary: String {
        var (downloaded, bytes, kept, copied, failed, cancelled) = (0, Int64(0), 0, 0, 0, 0)
        for outcome in state.withLock({ $0.outcomes }) {
            switch outcome {
            case .downloaded(let count):
                downloaded += 1
                bytes += count
            case .kept: kept += 1
            case .copied: copied += 1
            case .failed: failed += 1
            case .cancelled: cancelled += 1
            }
        }
        let parts = [(kept, "kept"), (copied, "copied"), (failed, "failed"), (cancelled, "cancelled")]
            .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        let time = (ContinuousClock.now - start).formatted(
            .units(allowed: [.minutes, .seconds, .milliseconds], width: .narrow))
        return (["\(downloaded) downloaded (\(Self.text(bytes)))"] + parts).joined(separator: ", ") + " in \(time)"
    }

    static func text(_ bytes: Int64) -> String {
        var (value, unit) = (Double(bytes), 0)
        let units = ["B", "kB", "MB", "GB", "TB"]
        while value >= 1000, unit < units.count - 1 { (value, unit) = (value / 1000, unit + 1) }
        return unit == 0 ? "\(bytes) B" : String(format: "%.1f %@", value, units[unit])
    }
}

/// The progress display of a fetch, updated ten times per second.
final class FetchStatus: Sendable {
    // Only the thread that runs the command creates and cancels the timer.
    nonisolated(unsafe) private let timer: any DispatchSourceTimer
    private let printer: RunPrinter

    init(of fetch: Fetch, on printer: RunPrinter) {
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "opq.fetch"))
        timer.schedule(deadline: .now(), repeating: .milliseconds(100))
        timer.setEventHandler { printer.show([fetch.status]) }
        timer.activate()
        self.timer = timer
        self.printer = printer
    }

    func end() {
        timer.cancel()
        printer.show([])
    }
}
#endif
