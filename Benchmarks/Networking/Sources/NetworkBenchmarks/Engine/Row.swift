/// One question, numbered as in the table: what is done, and by whom.
struct Row: Sendable {
    let number: Int
    let question: String
    let work: String
    /// Whose figures the others' are set against; nil for nobody's.
    var reference: Contender?
    var needsBigFile = false
    let measures: [Measure]
    let entries: [Entry]
}

/// One contender's part in a row.
struct Entry: Sendable {
    let contender: Contender
    /// What it does otherwise than its name says.
    var manner = ""
    /// What must be reached; ours only.
    var bars: [Bar] = []
    /// Does all of the work once and checks that it was done.
    ///
    /// - Throws: Whatever fails; `WorkMissing` when not all was done.
    let measure: @Sendable (Site) async throws -> Sample
}

/// What one repetition gave.
typealias Sample = [Measure: Double]

enum Measure: String, CaseIterable, Codable, Sendable {
    /// From the first request made to the last answer had.
    case time
    /// Of the contender's process; the server's is not in it.
    case processorTime = "processor time"
    /// By which the peak of resident memory rises.
    case growth
    /// Requests that reached the server.
    case transfers

    var unit: String {
        switch self {
        case .time, .processorTime: "ms"
        case .growth: "MiB"
        case .transfers: ""
        }
    }
}

enum Contender: String, CaseIterable, Codable, Sendable {
    case queue = "HTTPClientQueue"
    case operation = "HTTPOperation"
    case download = "HTTPDownloadOperation"
    case stream = "HTTPStreamOperation"
    case decoder = "StandardImageDecoder"
    case bare = "async-http-client"
    case curl
    case aria2c
    case vipsthumbnail

    /// The program it is, and where Debian has it; nil for what is linked.
    var program: (name: String, package: String)? {
        switch self {
        case .curl: ("curl", "curl")
        case .aria2c: ("aria2c", "aria2")
        case .vipsthumbnail: ("vipsthumbnail", "libvips-tools")
        default: nil
        }
    }
}

/// How much is measured.
enum Scale: String, Codable, Sendable {
    case full, quick

    /// Of each contender in each row.
    var repetitions: Int { pick(full: 5, quick: 3) }

    func pick(full: Int, quick: Int) -> Int { self == .full ? full : quick }

    // MARK: - Sizes

    var requests: Int { pick(full: 10_000, quick: 1_000) }
    /// Of the large file, in MiB.
    var mebibytes: Int { pick(full: 1_024, quick: 128) }
    var photographs: Int { pick(full: 1_000, quick: 100) }
}

/// A contender has not done all of the work.
struct WorkMissing: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
