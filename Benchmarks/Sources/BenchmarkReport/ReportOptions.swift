public import ArgumentParser
import struct Foundation.Data
import class Foundation.JSONEncoder
import struct Foundation.URL

/// What is reported, and where to besides the standard output.
public struct ReportOptions: ParsableArguments {
    @Option(parsing: .upToNextOption, help: ArgumentHelp("Only these rows of the table.", valueName: "number"))
    public var row: [Int] = []

    @Option(help: ArgumentHelp("Also writes the figures, every repetition of them, as JSON.", valueName: "file"))
    public var json: String?

    @Option(help: ArgumentHelp("Also draws the figures as bars.", valueName: "file"))
    public var svg: String?

    @Option(help: ArgumentHelp("Also writes the table as a document shows it, in Markdown.", valueName: "file"))
    public var markdown: String?

    public init() {}

    /// - Throws: `ValidationError` for a row that there is not.
    public func check(known: [Int]) throws {
        guard let unknown = row.first(where: { !known.contains($0) }) else { return }
        throw ValidationError("There is no row \(unknown). Rows: \(known.map(String.init).joined(separator: ", ")).")
    }

    public func isWanted(_ number: Int) -> Bool { row.isEmpty || row.contains(number) }

    /// Writes the files that were asked for.
    public func write(
        _ report: some Encodable, svg drawing: @autoclosure () -> String, markdown table: @autoclosure () -> String
    ) throws {
        if let json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            try write(String(decoding: encoder.encode(report), as: UTF8.self) + "\n", to: json)
        }
        if let svg { try write(drawing(), to: svg) }
        if let markdown { try write(table(), to: markdown) }
    }

    private func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }
}
