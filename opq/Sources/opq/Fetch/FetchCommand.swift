import ArgumentParser

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
struct FetchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Download a list of URLs, or the images of a page.",
        discussion: """
            LIST is a file, or - for standard input, with lines of the form 'URL [NAME] [sha256:DIGITS]'. LIST can also be \
            the URL of a page, whose images are then downloaded. Existing files are kept. Running the same command again \
            continues interrupted downloads.
            """)

    @Argument(help: "A file of URLs, - for standard input, or the URL of a page.", completion: .file())
    var list: String

    @Option(name: .shortAndLong, help: "The output folder, which is created if it is missing.", completion: .directory)
    var output = "."

    @Option(name: .shortAndLong, help: "The largest number of concurrent downloads.")
    var jobs = 8

    @Option(help: "The largest number of concurrent downloads from one host.")
    var perHost = 4

    @Option(help: "The number of retries of a failed download.")
    var retries = 2

    @Option(help: "Cache responses in this folder for later fetches.", completion: .directory)
    var cache: String?

    @Option(help: "Write a thumbnail of at most this many pixels for each image, to 'thumbnails' in the output folder.")
    var thumbnail: Int?

    @Flag(name: .shortAndLong, help: "Print failures only.")
    var quiet = false

    func validate() throws {
        for (name, value, least) in [("--jobs", jobs, 1), ("--per-host", perHost, 1), ("--retries", retries, 0)]
        where value < least {
            throw ValidationError("\(name) must be \(least) or more, found \(value).")
        }
        if let thumbnail, thumbnail < 1 { throw ValidationError("--thumbnail must be 1 or more, found \(thumbnail).") }
        #if !Images
        if thumbnail != nil {
            throw ValidationError(
                "--thumbnail needs a build with the trait Images: swift run --traits default,Images opq …")
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
struct FetchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch", abstract: "Download a list of URLs (this build lacks the trait Fetch).")

    @Argument(parsing: .allUnrecognized) var arguments: [String] = []

    func run() throws {
        print("opq: this build has no 'fetch'. Build it with the trait Fetch.", to: &standardError)
        throw ExitCode.badInput
    }
}
#endif
