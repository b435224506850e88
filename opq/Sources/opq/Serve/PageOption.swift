import ArgumentParser

/// The option that shows something on a page in the browser.
struct PageOption: ParsableArguments {
    @Option(
        defaultAsFlag: WholeNumber(0), parsing: .next,
        help: ArgumentHelp(
            "Serve a page in the browser, on this port of 127.0.0.1 or on a free one. Needs the trait Dashboard.",
            valueName: "port"))
    var serve: WholeNumber?

    func validate() throws {
        guard let serve else { return }
        if serve.value > 65_535 {
            throw ValidationError("--serve must be a port, at most 65535, found \(serve.value).")
        }
        #if !Dashboard
        throw ValidationError(
            "this build has no --serve. Build it with 'swift build -c release --package-path opq --traits Dashboard'.")
        #endif
    }

    /// Returns the words with a port for each `--serve` that has none. The parser would take the next word for the port, also if it
    /// is a file.
    static func withPort(_ words: some Sequence<String>) -> [String] {
        let words = Array(words)
        let end = words.firstIndex(of: "--") ?? words.endIndex
        return words.indices.map { index in
            guard index < end, words[index] == "--serve" else { return words[index] }
            let next = index + 1 < end ? words[index + 1] : ""
            return WholeNumber(argument: next) == nil ? "--serve=0" : "--serve"
        }
    }
}

/// The options for a page of a run.
struct PageOptions: ParsableArguments {
    @OptionGroup var option: PageOption

    @Flag(help: "With --serve: keep the page after the run, until Ctrl-C.")
    var stay = false

    var port: Int? { option.serve?.value }

    func validate() throws {
        if stay, option.serve == nil { throw ValidationError("--stay needs --serve.") }
    }
}
