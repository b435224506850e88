public import DurableCore

/// The names of states in options, tables and JSON.
public enum StateNames {
    /// Returns the name of a state.
    public static func name(_ state: DurableState) -> String {
        state == .awaitingSignal ? "awaiting-signal" : "\(state)"
    }

    /// All names that `states` accepts.
    public static var all: [String] { DurableState.allCases.map(name) + ["unfinished", "ended"] }

    /// Returns the states of a list of names, which commas separate; nil if a name is unknown.
    ///
    /// `unfinished` and `ended` name all states without, and with, an outcome.
    public static func states(_ list: String) -> Set<DurableState>? {
        var states: Set<DurableState> = []
        for word in list.split(separator: ",", omittingEmptySubsequences: false) {
            switch word {
            case "unfinished": states.formUnion(DurableState.allCases.filter { !$0.isEnded })
            case "ended": states.formUnion(DurableState.allCases.filter(\.isEnded))
            default:
                guard let state = DurableState.allCases.first(where: { name($0) == word }) else { return nil }
                states.insert(state)
            }
        }
        return states
    }
}
