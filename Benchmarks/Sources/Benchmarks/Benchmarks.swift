import BenchmarkReport
import ArgumentParser

@main
struct Benchmarks: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Benchmarks", abstract: "Measures operation queues against their peers, in one table.")

    @Option(parsing: .upToNextOption, help: ArgumentHelp("Only these rows of the table.", valueName: "number"))
    var row: [Int] = []

    @Option(
        help: ArgumentHelp("Only this contender, for a profiler to look at; repeat for several.", valueName: "name"))
    var contender: [Contender] = []

    @Flag(help: "Smaller sizes and fewer repetitions: at most about two minutes.")
    var quick = false

    @Flag(help: "Only what the machine takes for single steps: a cache line, an allocation, a wake-up.")
    var limits = false

    @Option(help: ArgumentHelp("Also writes the figures, every repetition of them, as JSON.", valueName: "file"))
    var json: String?

    @Option(help: ArgumentHelp("Also draws the figures as bars.", valueName: "file"))
    var svg: String?

    @Option(help: ArgumentHelp("Also writes the table as a document shows it, in Markdown.", valueName: "file"))
    var markdown: String?

    @Option(help: .private)
    var child: ChildTask?

    func validate() throws {
        let known = Row.all(.full).map(\.number)
        if let unknown = row.first(where: { !known.contains($0) }) {
            throw ValidationError(
                "There is no row \(unknown). Rows: \(known.map(String.init).joined(separator: ", ")).")
        }
    }

    func run() throws {
        let scale: Scale = quick ? .quick : .full
        if let child { return child.perform(at: scale) }
        if limits { return print(Machine.current.text, Limits.text, separator: "\n\n") }
        let chosen = contender.isEmpty ? Contender.allCases : contender
        let engine = Engine(scale: scale, contenders: chosen.filter(\.isThere))
        for missing in chosen where !missing.isThere {
            Engine.tell("\(missing.rawValue) is skipped: its library was not there when this program was built")
        }
        let rows = Row.all(scale).filter { row.isEmpty || row.contains($0.number) }
        let machine = Machine.current
        let report = Report(machine: machine, scale: scale, lines: rows.flatMap { engine.measure($0) })
        print(report.text)
        if let json { try Report.write(report.json, to: json) }
        if let svg { try Report.write(Chart(report).svg, to: svg) }
        if let markdown { try Report.write(MarkdownTable(report).text, to: markdown) }
    }
}

extension Contender: ExpressibleByArgument {}
extension ChildTask: ExpressibleByArgument {}
