/// One question, numbered as in the table: what is measured, for whom, and what must be reached.
struct Row: Sendable {
    let number: Int
    let question: String
    let lines: [Line]
}

/// One size of a question's work: a line of the table.
struct Line: Sendable {
    let work: String
    var unit = Unit.nanosecondsPerOperation
    let entries: [Entry]
    /// What must be reached first.
    var bars: [Bar] = []
    /// What would be excellent.
    var moonshots: [Bar] = []
}

/// One contender's part in a line.
struct Entry: Sendable {
    let contender: Contender
    /// The most repetitions; fewer than the row's where one takes many seconds.
    var repetitions = Int.max
    /// Measured in a process of its own, because it may crash or because it leaves the heap changed.
    var isInChild = false
    let measure: @Sendable () -> Sample
}

/// What one repetition gave.
struct Sample {
    /// In the line's unit.
    let figure: Double
    /// Released after the clock has stopped.
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
    /// Of the time on all cores: the only unit of which more is better.
    case percent = "%"
}

/// How much is measured.
enum Scale: String, Codable, Sendable {
    case full, quick

    /// Of each contender in each line, unless its entry says fewer.
    var repetitions: Int { pick(full: 7, quick: 5) }

    func pick(full: Int, quick: Int) -> Int { self == .full ? full : quick }
}
