/// The arguments of `durable-serve`.
package struct ServeArguments: Equatable, Sendable {
    package var port = 8080
    package var steers = false
    package var showsInputs = false

    /// Reads the words of a command line. nil if one of them is wrong.
    package init?(_ words: some Sequence<String>) {
        var words = words.makeIterator()
        while let word = words.next() {
            switch word {
            case "--steer": steers = true
            case "--inputs": showsInputs = true
            case "--port":
                guard let port = words.next().flatMap({ Int($0) }), (0...65535).contains(port) else { return nil }
                self.port = port
            default: return nil
            }
        }
    }
}
