/// One question, with its number in the table and its lines.
struct Row: Sendable {
    let number: Int
    let question: String
    let lines: [Line]
}

/// One size of a question's work, which is one line of the table.
struct Line: Sendable {
    let work: String
    var unit = Unit.nanosecondsPerOperation
    let entries: [Entry]
    /// The requirements of the project.
    var bars: [Bar] = []
    /// The figures that would be excellent.
    var moonshots: [Bar] = []
    /// Whether the line repeats the line above in a fresh process. No other line is compared with it.
    var isCold = false
}

/// The part of one contender in a line.
struct Entry: Sendable {
    let contender: Contender
    /// The maximum number of repetitions. The number is low if one repetition takes many seconds.
    var repetitions = Int.max
    /// Whether the measurement runs in a child process, because it may crash or may leave the heap changed.
    var isInChild = false
    /// The number of times that the child process does the work before it is measured.
    var warmUps = 0
    let measure: @Sendable () -> Sample
}

/// The result of one repetition.
struct Sample {
    /// The figure in the line's unit.
    let figure: Double
    /// Objects to release after the clock has stopped.
    var leftovers: Any?
}

enum Contender: String, CaseIterable, Codable, Sendable {
    case operations = "Operations"
    case foundation = "Foundation"
    case dispatch = "dispatch"
    case taskGroup = "task group"
    case oneTBB = "oneTBB"

    var isThere: Bool { self != .oneTBB || OneTBB.isThere }
}

enum Unit: String, CaseIterable, Codable, Sendable {
    case nanosecondsPerOperation = "ns/op"
    case bytesPerOperation = "bytes/op"
    case milliseconds = "ms"
    /// The percentage of the time on all cores. It is the only unit of which more is better.
    case percent = "%"
}

/// The size of the measurements.
enum Scale: String, Codable, Sendable {
    case full, quick

    /// The repetitions of each contender in each line, unless its entry has a lower maximum.
    var repetitions: Int { pick(full: 7, quick: 5) }

    func pick(full: Int, quick: Int) -> Int { self == .full ? full : quick }
}
