import Arguments

/// The option that shows something on a page in the browser.
struct PageOption {
    static var options: [CommandOption<Self>] {
        [
            .optionalNumber(
                "serve", placeholder: "port",
                "Serve a page in the browser, on this port of 127.0.0.1 or on a free one. Needs the trait Dashboard."
            ) { (option, port) throws(UsageError) in
                #if Dashboard
                if let port, port > 65_535 { throw UsageError("--serve must be a port, at most 65535, found \(port)") }
                option.port = port ?? 0
                #else
                throw UsageError(
                    "this build has no --serve. Build it with 'swift build -c release --package-path opq --traits Dashboard'"
                )
                #endif
            }
        ]
    }

    /// The port, and 0 for a free one. `nil` without the option.
    private(set) var port: Int?
}

/// The options for a page of a run.
struct PageOptions {
    static var options: [CommandOption<Self>] {
        PageOption.options.map { $0.lifted(\.option) }
            + [.flag("stay", "With --serve: keep the page after the run, until Ctrl-C.") { $0.stay = true }]
    }

    private var option = PageOption()
    private(set) var stay = false

    var port: Int? { option.port }

    /// Checks the options together.
    func validate() throws(UsageError) {
        if stay, port == nil { throw UsageError("--stay needs --serve") }
    }
}
