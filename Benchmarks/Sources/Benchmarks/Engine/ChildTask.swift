import Glibc

/// A measurement in a child process. The program runs itself again and reads a figure from the output.
///
/// The command line has the form `row/line/contender`.
struct ChildTask: RawRepresentable {
    let row: Int
    let line: Int
    let contender: Contender

    init(row: Int, line: Int, contender: Contender) {
        self.row = row
        self.line = line
        self.contender = contender
    }

    init?(rawValue: String) {
        let parts = rawValue.split(separator: "/").map(String.init)
        guard parts.count == 3, let row = Int(parts[0]), let line = Int(parts[1]),
            let contender = Contender(rawValue: parts[2])
        else { return nil }
        self.init(row: row, line: line, contender: contender)
    }

    var rawValue: String { "\(row)/\(line)/\(contender.rawValue)" }

    // MARK: - In the child process

    /// Measures and prints the figure, then releases the leftovers, because the release may crash too.
    func perform(at scale: Scale) {
        guard let row = Row.all(scale).first(where: { $0.number == row }), row.lines.indices.contains(line),
            let entry = row.lines[line].entries.first(where: { $0.contender == contender })
        else { return }
        for _ in 0..<entry.warmUps { _ = entry.measure() }
        let sample = entry.measure()
        print(sample.figure)
        fflush(nil)
    }

    // MARK: - In the parent process

    func run(at scale: Scale) -> Outcome {
        guard let end = ChildProcess(["--child", rawValue], at: scale, isSilent: true).run() else { return Outcome() }
        let figure = end.output.split(separator: "\n").first.flatMap { Double($0) }
        return Outcome(figure: figure, crashed: end.hasCrashed)
    }
}
