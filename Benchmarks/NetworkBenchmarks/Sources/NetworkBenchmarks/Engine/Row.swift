/// A numbered row of the table: a question, with the work of each contender.
struct Row: Sendable {
    let number: Int
    let question: String
    let work: String
    /// The contender for comparison; nil for none.
    var reference: Contender?
    var needsBigFile = false
    let measures: [Measure]
    let entries: [Entry]
}

/// One contender's entry in a row.
struct Entry: Sendable {
    let contender: Contender
    /// The manner, if it differs from the name of the contender.
    var manner = ""
    /// The goals; for this package's contenders only.
    var bars: [Bar] = []
    /// Does all of the work once, and checks its completeness.
    ///
    /// - Throws: Any error of the work; `WorkMissing`, if the work is incomplete.
    let measure: @Sendable (Site) async throws -> Sample
}

/// The measurements of one repetition.
typealias Sample = [Measure: Double]

enum Measure: String, CaseIterable, Codable, Sendable {
    /// The time from the first request to the last response.
    case time
    /// The processor time of the contender's process, without the server's.
    case processorTime = "processor time"
    /// The growth of the peak of resident memory.
    case growth
    /// The number of requests that reached the server.
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
    case operation = "HTTPDataOperation"
    case download = "HTTPDownloadOperation"
    case stream = "HTTPStreamOperation"
    case decoder = "StandardImageDecoder"
    case bare = "async-http-client"
    case curl
    case aria2c
    case vipsthumbnail

    /// The program and its Debian package; nil for linked libraries.
    var program: (name: String, package: String)? {
        switch self {
        case .curl: ("curl", "curl")
        case .aria2c: ("aria2c", "aria2")
        case .vipsthumbnail: ("vipsthumbnail", "libvips-tools")
        default: nil
        }
    }
}

/// The scale of the measurements.
enum Scale: String, Codable, Sendable {
    case full, quick

    /// The repetitions of each contender in each row.
    var repetitions: Int { pick(full: 5, quick: 3) }

    func pick(full: Int, quick: Int) -> Int { self == .full ? full : quick }

    // MARK: - Sizes

    var requests: Int { pick(full: 10_000, quick: 1_000) }
    /// The size of the large file in MiB.
    var mebibytes: Int { pick(full: 1_024, quick: 128) }
    var photographs: Int { pick(full: 1_000, quick: 100) }
}

/// An error for a contender that did not do all of the work.
struct WorkMissing: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
