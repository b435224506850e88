/// The options of the command line.
struct Options {
    struct Misuse: Error {
        var text: String
        var isHelp = false
    }

    static let usage = """
        Usage: DurableBenchmarks [--rows LIST] [--full] [--scale N] [--database NAME]... [--json]

          --rows LIST      the rows of the cost table, for example 1,3,6-9 (default: all)
          --full           the sizes of the cost table (default: sizes that take less than two minutes together)
          --scale N        divides all sizes
          --database NAME  sqlite (synchronous = FULL), sqlite-normal, or with the trait Postgres the address of a database,
                           postgresql://…; may be repeated (default: sqlite)
          --json           a line of JSON for each measurement

        """

    var rows = Set(1...14)
    var isFull = false
    var scale = 1
    var backends: [any Backend] = []
    var isJSON = false

    init(_ arguments: inout [String]) throws {
        while !arguments.isEmpty {
            let option = arguments.removeFirst()
            switch option {
            case "--full": isFull = true
            case "--json": isJSON = true
            case "--help": throw Misuse(text: Self.usage, isHelp: true)
            case "--rows": rows = try Self.rows(try Self.value(of: option, &arguments))
            case "--scale":
                guard let number = Int(try Self.value(of: option, &arguments)), number > 0 else {
                    throw Misuse(text: "the scale is not a number above zero")
                }
                scale = number
            case "--database": backends.append(try backend(named: try Self.value(of: option, &arguments)))
            default: throw Misuse(text: "unknown option: \(option)\n\(Self.usage)")
            }
        }
        if backends.isEmpty { backends = [SQLiteBackend(isNormal: false)] }
    }

    private static func value(of option: String, _ arguments: inout [String]) throws -> String {
        guard !arguments.isEmpty else { throw Misuse(text: "\(option) needs a value") }
        return arguments.removeFirst()
    }

    /// Returns the numbers of a list such as `1,3,6-9`.
    private static func rows(_ list: String) throws -> Set<Int> {
        var rows: Set<Int> = []
        for part in list.split(separator: ",") {
            let ends = part.split(separator: "-").map { Int($0) ?? 0 }
            guard let first = ends.first, let last = ends.last, (1...14).contains(first), (first...14).contains(last)
            else {
                throw Misuse(text: "a list of rows has numbers from 1 to 14: \(list)")
            }
            rows.formUnion(first...last)
        }
        return rows
    }
}
