/// Numbers with units, and values that consist of several numbers.
extension WorkflowParser {
    /// Returns the whole number in `entry`. Reports a number below `least`.
    mutating func count(in entry: Entry, from least: Int, remedy: String? = nil) -> Int? {
        guard let number = entry.value.int else {
            let isDigits = entry.value.scalarKind == .number
            report(
                "'\(entry.key.value)' must be a whole number, found \(entry.value.kind)", at: entry.position,
                remedy: isDigits ? "write it in decimal digits, without a sign or a zero first" : nil)
            return nil
        }
        guard number >= least else {
            report("'\(entry.key.value)' must be \(least) or more, found \(number)", at: entry.position, remedy: remedy)
            return nil
        }
        return number
    }

    /// Returns the duration in `entry`, such as `1h30m`.
    mutating func duration(in entry: Entry) -> Duration? {
        if let text = string(of: entry.value, orNumber: true), let duration = Duration(opq: text) { return duration }
        report(
            "'\(entry.key.value)' must be a duration, found \(entry.value.kind)", at: entry.position,
            remedy: entry.value.scalarKind == .integer
                ? "add a unit, as in \(entry.value.string ?? "1")s" : "write it as in 10s, 5m or 1h30m")
        return nil
    }

    /// Returns the rate in `entry`, such as `10/1m`.
    mutating func rate(in entry: Entry) -> Rate? {
        let parts = (string(of: entry.value, orNumber: true) ?? "").split(
            separator: "/", omittingEmptySubsequences: false)
        if parts.count == 2, let count = Int(parts[0]), count > 0, parts[0].utf8.allSatisfy(\.isDigit),
            let interval = Duration(opq: parts[1].first?.isNumber == true ? String(parts[1]) : "1\(parts[1])"),
            interval > .zero
        {
            return Rate(count: count, interval: interval)
        }
        report(
            "'\(entry.key.value)' must be a rate, found \(entry.value.kind)", at: entry.position,
            remedy: "write a number and a time, as in 10/1m")
        return nil
    }

    /// Returns the amounts of resources in `entry`. An amount is a whole number, or a size of memory such as `2GB`.
    mutating func amounts(in entry: Entry) -> [String: Int] {
        var amounts: [String: Int] = [:]
        for resource in mapping(in: entry) {
            guard let amount = resource.value.int ?? resource.value.string.flatMap({ Int(opqSize: $0) }), amount >= 0
            else {
                report(
                    "'\(resource.key.value)' must be an amount, found \(resource.value.kind)", at: resource.position,
                    remedy: "write a whole number, or a size as in 512MB, 2GB or 2GiB")
                continue
            }
            amounts[resource.key.value] = amount
        }
        return amounts
    }

    /// Returns the retries in `entry`: a number, or a map.
    mutating func retries(in entry: Entry) -> Retries {
        var retries = Retries()
        guard entry.value.mapping != nil else {
            retries.count = count(in: entry, from: 0) ?? 0
            return retries
        }
        let parts = entries(of: entry.value, as: "'retries'", at: entry.position, in: .retries)
        if !parts.isEmpty, !parts.contains(where: { $0.key.value == "count" }) {
            report("'retries' has no 'count'", at: entry.position, remedy: "add count: with a number")
        }
        for part in parts {
            switch part.key.value {
            case "count": retries.count = count(in: part, from: 0) ?? 0
            case "delay": retries.delay = duration(in: part) ?? .zero
            case "factor":
                if let factor = part.value.isNumber ? part.value.string.flatMap({ Double($0) }) : nil, factor >= 1,
                    factor.isFinite
                {
                    retries.factor = factor
                } else {
                    report("'factor' must be a number of 1 or more, found \(part.value.kind)", at: part.position)
                }
            default:
                let nodes = part.value.sequence ?? [part.value]
                if nodes.isEmpty {
                    report("'on' lists no status", at: part.position, remedy: "leave it out for all failures")
                }
                retries.statuses = nodes.compactMap { node in
                    let status = Entry(key: Located("on", at: node.isNull ? part.position : node.position), value: node)
                    guard let number = count(in: status, from: 1) else { return nil }
                    if number > 255 {
                        report("'on' must be 255 or less, found \(number)", at: status.position)
                    }
                    return Int32(clamping: number)
                }
            }
        }
        return retries
    }

    /// Returns the shell in `entry`: its name, a program with arguments, or a list of them.
    mutating func shell(in entry: Entry) -> Located<Shell>? {
        let words: [String]
        if entry.value.sequence != nil {
            words = strings(in: entry).map(\.value)
        } else {
            words = string(in: entry)?.value.split(separator: " ").map(String.init) ?? []
            guard !entry.value.isNumber, entry.value.mapping == nil, !entry.value.isNull else { return nil }
        }
        guard let first = words.first, !first.isEmpty else {
            report("'shell' names no program", at: entry.position, remedy: "name one, as in bash or [python3, -c]")
            return nil
        }
        return Located(Shell(words, isList: entry.value.sequence != nil), at: entry.position)
    }
}

extension Duration {
    /// Creates a duration from numbers with units, as in `1h30m`. The units are `d`, `h`, `m`, `s` and `ms`, the longest
    /// first. `nil` if the text has another form.
    init?(opq text: String) {
        var rest = text.utf8[...]
        var total: Int64 = 0
        var next = 0
        let units: [(name: String, milliseconds: Int64)] = [
            ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
        ]
        while !rest.isEmpty {
            let digits = rest.prefix(while: \.isDigit)
            let name = rest.dropFirst(digits.count).prefix(while: \.isLetter)
            guard let number = Int64(String(Substring(digits))),
                let index = units.indices.dropFirst(next).first(where: { units[$0].name.utf8.elementsEqual(name) })
            else { return nil }
            let (product, overflows) = number.multipliedReportingOverflow(by: units[index].milliseconds)
            let (sum, exceeds) = total.addingReportingOverflow(product)
            // A century is longer than any run, and later sums with times stay far below the limits of their types.
            guard !overflows, !exceeds, sum <= 36_525 * 86_400_000 else { return nil }
            total = sum
            next = index + 1
            rest = rest.dropFirst(digits.count + name.count)
        }
        guard next > 0 else { return nil }
        self = .milliseconds(total)
    }
}

extension Int {
    /// Creates a number of bytes from a size such as `512MB` or `1.5GiB`. `nil` if the text has another form.
    init?(opqSize text: String) {
        let units: [(name: String, bytes: Double)] = [
            ("B", 1), ("kB", 1e3), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12), ("KiB", 1024),
            ("MiB", 1_048_576), ("GiB", 1_073_741_824), ("TiB", 1_099_511_627_776),
        ]
        let number = text.utf8.prefix { $0.isDigit || $0 == UInt8(ascii: ".") }
        let unit = text.utf8.dropFirst(number.count).drop { $0 == UInt8(ascii: " ") }
        guard let known = units.first(where: { $0.name.utf8.elementsEqual(unit) }),
            number.first?.isDigit == true, let value = Double(String(Substring(number))), value * known.bytes < 1e18
        else { return nil }
        self = Int(value * known.bytes)
    }
}
