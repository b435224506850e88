import Arguments

#if Fetch
import Foundation
import HTTPCaching
import HTTPCore
import HTTPTypes
import Operations
import OperationsImages
import OperationsNetworking
import WorkflowEngine

/// A command that downloads a list of addresses, or the images of a page.
struct FetchCommand: Command {
    static let description = CommandDescription(
        "fetch", "Download a list of URLs, or the images of a page.",
        discussion: """
            LIST is a file, or - for standard input, with lines of the form 'URL [NAME] [sha256:DIGITS]'. LIST can also be \
            the URL of a page, whose images are then downloaded. Existing files are kept. Running the same command again \
            continues interrupted downloads.
            """)
    static var operands: CommandOption<Self>? {
        .words("list", "A file of URLs, - for standard input, or the URL of a page.", value: .path) {
            (command, word) throws(UsageError) in
            guard command.list.isEmpty else { throw UsageError("fetch takes one list, found '\(word)'") }
            command.list = word
        }
    }
    static var options: [CommandOption<Self>] {
        [
            .text("output", short: "o", "folder", "The output folder, which is created if it is missing.", value: .path)
            {
                $0.output = $1
            },
            .number("jobs", short: "j", least: 1, "The largest number of concurrent downloads. (default: 8)") {
                $0.jobs = $1
            },
            .number("per-host", least: 1, "The largest number of concurrent downloads from one host. (default: 4)") {
                $0.perHost = $1
            },
            .number("retries", "The number of retries of a failed download. (default: 2)") { $0.retries = $1 },
            .text("cache", "folder", "Cache responses in this folder for later fetches.", value: .path) {
                $0.cache = $1
            },
            .number(
                "thumbnail", placeholder: "pixels", least: 1,
                "Write a thumbnail of at most this many pixels for each image, to 'thumbnails' in the output folder."
            ) { $0.thumbnail = $1 },
            .flag("quiet", short: "q", "Print failures only.") { $0.quiet = true },
        ]
    }

    private var list = ""
    private var output = "."
    private var jobs = 8
    private var perHost = 4
    private var retries = 2
    private var cache: String?
    private var thumbnail: Int?
    private var quiet = false

    func validate() throws(UsageError) {
        if list.isEmpty { throw UsageError("fetch needs a list") }
        #if !Images
        if thumbnail != nil {
            throw UsageError("--thumbnail needs a build with the trait Images: swift run --traits default,Images opq …")
        }
        #endif
    }

    func run() throws {
        signal(SIGPIPE, SIG_IGN)
        let isTerminal = isatty(STDOUT_FILENO) == 1 && getenv("TERM").map { String(cString: $0) } != "dumb"
        let printer = RunPrinter(report: RunReport(detail: quiet ? .quiet : .normal, isColoured: false))
        let fetch = try prepared()
        let interruption = FetchInterruption(cancel: fetch.cancel)
        let status = isTerminal && !quiet ? FetchStatus(of: fetch, on: printer) : nil
        fetch.run { [quiet] line, isFailure in
            !quiet || isFailure ? printer.print(line) : true
        }
        status?.end()
        if !quiet { _ = printer.print(fetch.summary) }
        if interruption.hasHappened {
            print("opq: interrupted; run the same command again to continue", to: &standardError)
            throw ExitCode.interrupted
        }
        if fetch.hasFailures || printer.failure != nil { throw ExitCode.failure }
    }

    /// Creates the fetch. Prints errors of the list, the folder or the cache.
    private func prepared() throws -> Fetch {
        do {
            var configuration = HTTPSession.Configuration()
            configuration.retryPolicy = RetryPolicy(retries: retries)
            configuration.connectionsPerHost = perHost
            if let cache { configuration.cache = try HTTPCache(directory: cache) }
            let session = HTTPSession(configuration)
            try Fetch.makeFolder(output)
            return try Fetch(
                try items(session), to: output, width: jobs, perHost: perHost, session: session, thumbnail: thumbnail)
        } catch let error as HTTPError {
            print("opq: \(error)", to: &standardError)
            throw ExitCode.failure
        } catch let mistakes as FetchList.Mistakes {
            for line in mistakes.lines { print("opq: \(list): \(line)", to: &standardError) }
        } catch let error as FolderError {
            print("opq: --output: \(error)", to: &standardError)
        } catch let error as HTTPCacheError {
            print("opq: --cache: \(error)", to: &standardError)
        } catch {
            let reason = error is CocoaError ? error.localizedDescription : "\(error)"
            print("opq: \(list): \(reason)", to: &standardError)
        }
        throw ExitCode.badInput
    }

    private func items(_ session: HTTPSession) throws -> [FetchList.Item] {
        if HTTPAddress(list) != nil {
            let page = HTTPDataOperation(HTTPRequestDescription(.get, list), as: .text, session: session)
            page.start()
            page.waitUntilFinished()
            let url = page.redirects.last ?? list
            let text = try page.result?.get() ?? ""
            return FetchList(urls: PageImages.urls(in: text, at: url)).items
        }
        let text: String
        if list == "-" {
            text = String(decoding: FileHandle.standardInput.readDataToEndOfFile(), as: UTF8.self)
        } else {
            text = try String(contentsOfFile: list, encoding: .utf8)
        }
        return try FetchList(lines: text).items
    }
}
#else

/// The command in a build without the trait `Fetch`.
struct FetchCommand: Command {
    static let description = CommandDescription(
        "fetch", "Download a list of URLs (this build lacks the trait Fetch).", takesAnyWords: true)
    static var operands: CommandOption<Self>? { .words("list", "A file of URLs.", value: .path) { _, _ in } }

    func run() throws {
        print("opq: this build has no 'fetch'. Build it with the trait Fetch.", to: &standardError)
        throw ExitCode.badInput
    }
}
#endif
