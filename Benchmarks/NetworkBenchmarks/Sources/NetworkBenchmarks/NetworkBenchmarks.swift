import ArgumentParser
import BenchmarkReport
import Glibc

@main
struct NetworkBenchmarks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "NetworkBenchmarks",
        abstract: "Measures network and image operations against their peers, in one table.")

    @OptionGroup
    var report: ReportOptions

    @Option(
        help: ArgumentHelp("Measure only this contender, for a profiler. Can be repeated.", valueName: "name"))
    var contender: [Contender] = []

    @Option(help: "The number of measurements of each contender.")
    var repetitions: Int?

    @Flag(help: "Use small sizes and fewer repetitions; takes about a minute.")
    var quick = false

    @Option(
        help: ArgumentHelp(
            "The folder for served and written files; by default /dev/shm, to exclude the disk.",
            valueName: "path"))
    var folder: String?

    @Option(help: .private)
    var growth: GrowthTask?

    @Option(help: .private)
    var site: String?

    func validate() throws {
        try report.check(known: Row.all(.full).map(\.number))
        if let repetitions, repetitions < 1 { throw ValidationError("--repetitions must be 1 or more.") }
    }

    func run() async throws {
        let scale: Scale = quick ? .quick : .full
        if let growth, let site, let folder {
            return try await growth.perform(at: site, in: folder, mebibytes: scale.mebibytes)
        }
        let rows = Row.all(scale).filter { report.isWanted($0.number) }
        let chosen = contender.isEmpty ? Contender.allCases : contender
        let wanted = chosen.filter { one in rows.contains { $0.entries.contains { $0.contender == one } } }
        let absent = wanted.filter { !$0.isThere }.map(\.absence)
        for line in absent { Engine.report(line) }
        let machine = Machine.current
        let site = try await Site(in: folder ?? (access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"))
        defer { site.close() }
        try Content.writeSmall(to: site.folder + "/www")
        if rows.contains(where: \.needsBigFile) {
            try Content.writeBig(to: site.folder + "/www", mebibytes: scale.mebibytes)
        }
        let engine = Engine(
            site: site, repetitions: repetitions ?? scale.repetitions, contenders: wanted.filter(\.isThere))
        var lines: [LineResult] = []
        for row in rows { lines += await engine.measure(row) }
        let found = Report(
            machine: machine, versions: versions(of: wanted, site), scale: scale, repetitions: engine.repetitions,
            lines: lines, absent: absent)
        print(found.text)
        try report.write(found, svg: Chart(found).svg, markdown: found.text)
    }

    private func versions(of contenders: [Contender], _ site: Site) -> [String] {
        contenders.compactMap(\.program).compactMap { program in
            let output = site.folder + "/version"
            guard let program = Program(program.name), (try? program.run(["--version"], output: output)) != nil else {
                return nil
            }
            return (try? Folder.text(of: output)).map { String($0.prefix { $0 != "\n" }) }
        }
    }
}

extension Contender: ExpressibleByArgument {
    var isThere: Bool { program.map { Program($0.name) != nil } ?? true }

    fileprivate var absence: String {
        "\(rawValue) is not installed (Debian: \(program?.package ?? "?")) and was skipped."
    }
}

extension GrowthTask: ExpressibleByArgument {}
