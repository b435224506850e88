extension Row {
    /// All rows, in the order of the table.
    static func all(_ scale: Scale) -> [Row] {
        [
            independent(scale), serial(scale), batch(scale), adders(scale), chain(scale), fan(scale),
            randomGraph(scale),
            roundTrip(scale), priorities(scale), cancel(scale), compute(scale), blocking(scale), memory(scale),
            growth(scale), observed(scale), asynchronous(scale),
        ]
    }
}
