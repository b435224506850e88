/// The parts of the report page beside its timeline: failures with their outputs, the longest chain, the use of the queues, and a
/// search.
public enum ReportPage {
    /// Returns the page of a timeline with these parts.
    ///
    /// - Parameters:
    ///   - outputs: The ends of the outputs of failed operations, by the names of the operations.
    ///   - secrets: The values that are masked in commands.
    public static func text(
        timeline: String, _ facts: RunFacts, _ result: RunResult, outputs: [String: String], secrets: Secrets
    ) -> String {
        let parts = [search, failures(result, outputs, secrets), chain(facts), queues(facts)].joined(separator: "\n")
        return timeline.replacing("</style>", with: style + "</style>", maxReplacements: 1)
            .replacing("</p>", with: "</p>\n" + parts, maxReplacements: 1)
            .replacing("</body>", with: "<script>\(script)</script>\n</body>", maxReplacements: 1)
    }

    private static let search = """
        <p><input id="search" type="search" placeholder="Find an operation" aria-label="Find an operation">
        <output id="found" for="search"></output></p>
        """

    private static func failures(_ result: RunResult, _ outputs: [String: String], _ secrets: Secrets) -> String {
        let failed = zip(result.operations, result.conclusions).filter { _, conclusion in
            if case .failed = conclusion.outcome { true } else { false }
        }
        guard !failed.isEmpty else { return "" }
        let items = failed.prefix(200).map { operation, conclusion in
            guard case .failed(let failure) = conclusion.outcome else { return "" }
            let tolerated = conclusion.isTolerated ? " (may fail)" : ""
            let output = outputs[conclusion.name].map { "<pre>\($0.markup)</pre>" } ?? ""
            return "<details data-name=\"\(conclusion.name.visible.markup)\" open><summary>"
                + "\(conclusion.name.visible.markup): \(RunReport.text(of: failure).visible.markup)\(tolerated)</summary>\n"
                + "<pre class=\"command\">\(secrets.masked(operation.command).visibleLines.markup)</pre>\(output)</details>"
        }
        let rest = failed.count > items.count ? "<p>and \(failed.count - items.count) more</p>" : ""
        return "<section><h2>Failures</h2>\n\(items.joined(separator: "\n"))\(rest)</section>"
    }

    private static func chain(_ facts: RunFacts) -> String {
        guard facts.chain.count > 1 else { return "" }
        let all = facts.chain.reduce(Duration.zero) { $0 + $1.waited + $1.ran }
        let rows = facts.chain.suffix(50).map { link in
            "<tr data-name=\"\(link.name.visible.markup)\"><td>\(link.name.visible.markup)</td>"
                + "<td class=\"number\">\(link.waited.seconds)</td><td class=\"number\">\(link.ran.seconds)</td>"
                + "<td>\(meter(all > .zero ? link.ran / all : 0))</td></tr>"
        }
        return """
            <section><h2>Longest chain</h2>
            <table><caption>The run could not end before these operations. Shorten one of them, or let it wait less.</caption>
            <tr><th>operation</th><th class="number">waited</th><th class="number">ran</th><th>part of the run</th></tr>
            \(rows.joined(separator: "\n"))
            </table></section>
            """
    }

    private static func queues(_ facts: RunFacts) -> String {
        guard !facts.queues.isEmpty else { return "" }
        let rows = facts.queues.map { queue in
            "<tr><td>\(queue.name.visible.markup)</td><td class=\"number\">\(queue.count)</td>"
                + "<td class=\"number\">\(queue.most) of \(queue.limit)</td><td>\(meter(queue.use))</td></tr>"
        }
        return """
            <section><h2>Queues</h2>
            <table>
            <tr><th>queue</th><th class="number">commands</th><th class="number">most at a time</th><th>in use</th></tr>
            \(rows.joined(separator: "\n"))
            </table></section>
            """
    }

    private static func meter(_ part: Double) -> String {
        let percent = Int((part * 100).rounded())
        return "<span class=\"meter\"><span style=\"width:\(min(max(percent, 0), 100))%\"></span></span> \(percent) %"
    }

    private static let style = """

        h2 { font-size: 1.1em; margin: 1.5em 0 .3em } section table { margin-top: 0 }
        #search { font: inherit; padding: .3em .6em; width: 20em; max-width: 100% } #found { margin-left: 1em }
        .meter { display: inline-block; width: 8em; height: .7em; background: #e9ecef; border-radius: 2px }
        .meter span { display: block; height: 100%; background: #4dabf7; border-radius: 2px }
        details { margin: .4em 0 } summary { color: #c92a2a; font-weight: 600; cursor: pointer; overflow-wrap: anywhere }
        details pre { margin: .3em 0 .3em 1.2em; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 12px }
        pre.command { opacity: .75 } .command::before { content: "$ " } .out { opacity: .15 } [hidden] { display: none }
        @media (prefers-color-scheme: dark) {
          .meter { background: #373a40 } summary { color: #ff8787 }
          #search { background: #25262b; color: inherit; border: 1px solid #5c5f66 } }

        """

    private static let script = """

        const search = document.getElementById("search"), found = document.getElementById("found");
        const bars = [...document.querySelectorAll("g.run")].map((g) => [g, g.querySelector("title").textContent]);
        const parts = [...document.querySelectorAll("tr, details")].filter((e) => !e.querySelector("th"));
        search.addEventListener("input", () => {
          const text = search.value.toLowerCase();
          let count = 0;
          for (const [g, title] of bars) {
            const matches = title.toLowerCase().includes(text);
            g.classList.toggle("out", !matches);
            if (matches) count++;
          }
          for (const part of parts) part.hidden = !part.textContent.toLowerCase().includes(text);
          found.textContent = text ? count + " of " + bars.length + " operations" : "";
        });

        """
}

extension String {
    /// The text in a page: markup and control characters have no meaning.
    fileprivate var markup: String {
        var text = String.UnicodeScalarView()
        // Scalars, because a character may begin with a scalar that hides the `<` after it.
        for scalar in unicodeScalars {
            switch scalar {
            case "&": text.append(contentsOf: "&amp;".unicodeScalars)
            case "<": text.append(contentsOf: "&lt;".unicodeScalars)
            case ">": text.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": text.append(contentsOf: "&quot;".unicodeScalars)
            case "\t", "\n": text.append(scalar)
            case "\u{0}"..<"\u{20}", "\u{7F}"..<"\u{A0}": text.append("\u{FFFD}")
            default: text.append(scalar)
            }
        }
        return String(text)
    }
}
