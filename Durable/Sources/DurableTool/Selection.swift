public import DurableCore

/// A choice of operations by the arguments of a command.
public struct Selection: Sendable, Hashable {
    /// An argument that is not usable.
    public struct Mistake: Error, Hashable, CustomStringConvertible {
        public let description: String
    }

    /// The identifiers, as they were written.
    public var ids: [String] = []
    /// Lists of states.
    public var states: [String] = []
    public var queue: String?
    public var name: String?
    /// The least age.
    public var older: String?
    /// The greatest age.
    public var newer: String?
    /// Whether the choice of all operations is intended.
    public var isAll = false

    /// Creates the choice of nothing.
    public init() {}

    /// Whether an argument limits the choice.
    public var isLimited: Bool {
        !ids.isEmpty || !states.isEmpty || queue != nil || name != nil || older != nil || newer != nil
    }

    /// Returns the filter of the choice.
    ///
    /// - Parameter mustLimit: Whether a choice of all operations needs `isAll`.
    /// - Throws: `Mistake`.
    public func filter(mustLimit: Bool) throws(Mistake) -> DurableFilter {
        if mustLimit, !isLimited, !isAll {
            throw Mistake(
                description: "name operations by identifier, --state, --queue, --name or an age, or use --all")
        }
        if isAll, isLimited { throw Mistake(description: "--all excludes other choices") }
        var filter = DurableFilter(queue: queue, name: name)
        for id in ids { filter.ids = (filter.ids ?? []).union([try Self.id(id)]) }
        for list in states {
            guard let found = StateNames.states(list) else {
                throw Mistake(
                    description: "'\(list)' is no state; the states are \(StateNames.all.joined(separator: ", "))")
            }
            filter.states = (filter.states ?? []).union(found)
        }
        filter.minimumAge = try Self.age(older, "--older")
        filter.maximumAge = try Self.age(newer, "--newer")
        return filter
    }

    /// Returns the identifier of a text.
    public static func id(_ text: String) throws(Mistake) -> OperationID {
        guard let number = Int64(text), number > 0 else {
            throw Mistake(description: "'\(text)' is no identifier of an operation, which is a number")
        }
        return OperationID(number)
    }

    private static func age(_ text: String?, _ option: String) throws(Mistake) -> Duration? {
        guard let text else { return nil }
        guard let age = Age.duration(text) else {
            throw Mistake(description: "\(option) needs a time such as 90s, 15m, 1h30m or 2d, and not '\(text)'")
        }
        return age
    }
}

/// A rate as a text: a number, a slash and a time, such as `10/1s`.
public enum RateText {
    /// Returns the rate of a text; nil for another text.
    public static func rate(_ text: String) -> RateRule? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let count = Int(parts[0]), count > 0, let period = Age.duration(String(parts[1])),
            period > .zero
        else { return nil }
        return RateRule(count, per: period)
    }

    /// Returns the text of a rate.
    public static func text(_ rate: RateRule) -> String {
        "\(rate.count)/\(Age.text(.microseconds(rate.period)).filter { $0 != " " })"
    }
}
