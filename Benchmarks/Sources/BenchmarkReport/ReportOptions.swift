public import ArgumentParser
import struct Foundation.Data
import class Foundation.JSONEncoder
import struct Foundation.URL

/// The selection of rows, and the output files in addition to standard output.
public struct ReportOptions: ParsableArguments {
    @Option(parsing: .upToNextOption, help: ArgumentHelp("Only these rows of the table.", valueName: "number"))
    public var row: [Int] = []

    @Option(help: ArgumentHelp("Also writes the figures of all repetitions as JSON.", valueName: "file"))
    public var json: String?

    @Option(help: ArgumentHelp("Also draws the figures as a bar chart (SVG).", valueName: "file"))
    public var svg: String?

    @Option(help: ArgumentHelp("Also writes the table as Markdown.", valueName: "file"))
    public var markdown: String?

    public init() {}

    /// - Throws: `ValidationError` if a row does not exist.
    public func check(known: [Int]) throws {
        guard let unknown = row.first(where: { !known.contains($0) }) else { return }
        throw ValidationError("There is no row \(unknown). Rows: \(known.map(String.init).joined(separator: ", ")).")
    }

    public func isWanted(_ number: Int) -> Bool { row.isEmpty || row.contains(number) }

    /// Writes the requested files.
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
