import ArgumentParser

/// A whole number of the command line, in decimal digits without a sign or a zero first, as in a workflow file.
struct WholeNumber: ExpressibleByArgument, CustomStringConvertible {
    let value: Int

    init(_ value: Int) { self.value = value }

    init?(argument: String) {
        guard let value = Int(argument), String(value) == argument, value >= 0 else { return nil }
        self.value = value
    }

    var description: String { String(value) }
    var defaultValueDescription: String { description }
}
