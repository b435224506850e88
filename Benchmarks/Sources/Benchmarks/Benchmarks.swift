import ArgumentParser
import BenchmarkReport

@main
struct Benchmarks: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Benchmarks", abstract: "Compares operation queues with their peers in one table.")

    @OptionGroup
    var report: ReportOptions

    @Option(
        help: ArgumentHelp("Only this contender, for a profiler to look at; repeat for several.", valueName: "name"))
    var contender: [Contender] = []

    @Flag(help: "Smaller sizes and fewer repetitions: the run takes at most about two minutes.")
    var quick = false

    @Flag(help: "Only the times of single steps on this machine: a cache line, an allocation, a wake-up.")
    var limits = false

    @Option(help: .private)
    var child: ChildTask?

    /// Measure the rows in this process, and print the results as JSON.
    @Flag(help: .private)
    var results = false

    func validate() throws { try report.check(known: Row.all(.full).map(\.number)) }

    func run() throws {
        let scale: Scale = quick ? .quick : .full
        if let child { return child.perform(at: scale) }
        if limits { return print(Machine.current.text, Limits.text, separator: "\n\n") }
        let chosen = contender.isEmpty ? Contender.allCases : contender
        let engine = Engine(scale: scale, contenders: chosen.filter(\.isThere))
        let rows = Row.all(scale).filter { report.isWanted($0.number) }
        if results { return print(try LineResult.text(of: rows.flatMap { engine.measure($0) })) }
        for missing in chosen where !missing.isThere {
            Engine.report("\(missing.rawValue) is skipped, because its library was missing when this program was built")
        }
        guard !engine.contenders.isEmpty else { throw ValidationError("None of the contenders is there.") }
        let machine = Machine.current
        var crashed: [Int] = []
        let lines = rows.flatMap { row in
            // A profiler looks at one process.
            if rows.count == 1 { return engine.measure(row) }
            if let results = engine.measureInChild(row) { return results }
            crashed.append(row.number)
            return engine.withoutFigures(row)
        }
        let found = Report(machine: machine, scale: scale, lines: lines)
        print(found.text)
        try report.write(found, svg: Chart(found).svg, markdown: MarkdownTable(found).text)
        guard crashed.isEmpty else {
            Engine.report("the processes of these rows crashed: \(crashed.map(String.init).joined(separator: ", "))")
            throw ExitCode.failure
        }
    }
}

extension Contender: ExpressibleByArgument {}
extension ChildTask: ExpressibleByArgument {}
