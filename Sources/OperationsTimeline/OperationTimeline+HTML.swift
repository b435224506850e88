import Operations

extension OperationTimeline {
    /// Returns an HTML page with a timeline of the operations. The page needs nothing except a browser.
    ///
    /// - Parameters:
    ///   - title: The heading of the page.
    ///   - outputs: Texts, by the names of operations. The page shows a text below its operation if that did not succeed.
    public func htmlTimeline(title: String = "Operations", outputs: [String: String] = [:]) -> String {
        let spans = spans
        let end = max(spans.map { $0.finished ?? $0.started ?? $0.added }.max() ?? .zero, .milliseconds(1))
        let page = TimelinePage(spans: spans, end: end, outputs: outputs)
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <title>\(title.escaped)</title>
            <style>\(TimelinePage.style)</style>
            </head>
            <body>
            <h1>\(title.escaped)</h1>
            <p>\(page.summary)</p>
            \(page.figure)
            \(page.table)
            </body>
            </html>

            """
    }
}

/// The parts of the page.
private struct TimelinePage {
    let spans: [OperationTimeline.Span]
    let end: Duration
    let outputs: [String: String]

    private static let width = 1000.0
    private static let laneHeight = 20
    private static let headHeight = 26

    static let style = """
        body { font: 14px/1.4 system-ui, sans-serif; margin: 2em; color: #212529; background: #fff }
        svg { width: 100%; height: auto; display: block } text { font: 11px system-ui, sans-serif; fill: #212529 }
        .queue { font-weight: 600; font-size: 12px } .axis { stroke: #dee2e6 } .run rect { fill: #4dabf7 }
        .failed rect { fill: #fa5252 } .cancelled rect { fill: #adb5bd } .unfinished rect { fill: #a5d8ff }
        .run text { pointer-events: none } table { border-collapse: collapse; margin-top: 2em } caption { text-align: left }
        th, td { text-align: left; padding: .2em 1em .2em 0 }
        td.number, th.number { text-align: right; font-variant-numeric: tabular-nums } tr.failed td { color: #c92a2a }
        td pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere }
        @media (prefers-color-scheme: dark) {
          body { background: #1a1b1e; color: #dee2e6 } text { fill: #dee2e6 } .run text { fill: #000 }
          .axis { stroke: #373a40 } tr.failed td { color: #ff8787 } }
        """

    var summary: String {
        let failed = spans.filter { $0.kind == .failed }.count
        let busy = spans.reduce(Duration.zero) { $0 + ($1.ran(until: end) ?? .zero) }
        return "\(spans.count) operations in \(end.inWords)"
            + (failed > 0 ? ", <strong>\(failed) failed</strong>" : "")
            + ", on average \(((busy / end) * 10).rounded() / 10) at a time"
    }

    /// The bars of the operations in lanes, with a group of lanes for each queue, below a time axis.
    var figure: String {
        let lanes = Lanes(spans, end: end)
        var tops: [String: Int] = [:]
        var height = Self.headHeight
        var parts: [String] = []
        for queue in lanes.queues {
            parts.append("<text class=\"queue\" x=\"0\" y=\"\(height + 14)\">\(queue.name.escaped)</text>")
            height += Self.headHeight
            tops[queue.name] = height
            height += queue.lanes * Self.laneHeight + 8
        }
        var bars: [String] = []
        for (span, lane) in lanes.placed {
            guard let started = span.started, let ran = span.ran(until: end), let top = tops[span.queue] else {
                continue
            }
            let (x, y) = (position(started), top + lane * Self.laneHeight)
            let width = max(position(ran), 0.5)
            let fits = Double(span.name.count) * 6.2 < width
            bars.append(
                "<g class=\"run \(span.kind.rawValue)\"><rect x=\"\(x.brief)\" y=\"\(y)\" width=\"\(width.brief)\" "
                    + "height=\"\(Self.laneHeight - 3)\" rx=\"2\"><title>\(span.name.escaped): \(span.outcome.escaped), "
                    + "waited \((started - span.added).inWords), ran \(ran.inWords)</title></rect>"
                    + (fits ? "<text x=\"\((x + 4).brief)\" y=\"\(y + 12)\">\(span.name.escaped)</text>" : "") + "</g>")
        }
        return """
            <svg viewBox="0 -16 \(Int(Self.width)) \(height + 16)" role="img" aria-label="When operations ran">
            \((axis(height) + parts + bars).joined(separator: "\n"))
            </svg>
            """
    }

    private func axis(_ height: Int) -> [String] {
        let step = end.roundStep
        var marks: [String] = []
        var time = Duration.zero
        while time <= end {
            let x = position(time).brief
            // The last mark's text would not fit into the picture.
            let anchor = position(time) > Self.width * 0.94 ? " text-anchor=\"end\"" : ""
            marks.append("<line class=\"axis\" x1=\"\(x)\" x2=\"\(x)\" y1=\"0\" y2=\"\(height)\"/>")
            marks.append("<text x=\"\(x)\" y=\"-4\"\(anchor)>\(time.inWords)</text>")
            time += step
        }
        return marks
    }

    /// A table of the 20 operations that ran longest, and of all operations that did not succeed.
    var table: String {
        let order = spans.indices.sorted { (spans[$0].ran(until: end) ?? .zero) > (spans[$1].ran(until: end) ?? .zero) }
        let longest = order.prefix(20)
        let others = order.dropFirst(20).filter { spans[$0].kind != .succeeded }.sorted()
        let rows = (longest + others).map { row(spans[$0]) }
        return """
            <table>
            \(caption(longest: longest.count, others: others.count))
            <tr><th>operation</th><th>queue</th><th class="number">waited</th><th class="number">ran</th><th>outcome</th></tr>
            \(rows.joined(separator: "\n"))
            </table>
            """
    }

    /// Returns a caption that states which operations have a row; empty if all operations have one.
    private func caption(longest: Int, others: Int) -> String {
        guard longest + others < spans.count else { return "" }
        let rest = others == 0 ? "" : ", and \(others) more that did not succeed"
        return "<caption>The \(longest) of \(spans.count) operations that ran longest\(rest)</caption>"
    }

    private func row(_ span: OperationTimeline.Span) -> String {
        let row =
            "<tr class=\"\(span.kind.rawValue)\"><td>\(span.name.escaped)</td><td>\(span.queue.escaped)</td>"
            + "<td class=\"number\">\(((span.started ?? span.finished ?? end) - span.added).inWords)</td>"
            + "<td class=\"number\">\(span.ran(until: end)?.inWords ?? "–")</td><td>\(span.outcome.escaped)</td></tr>"
        guard span.kind != .succeeded, let output = outputs[span.name], !output.isEmpty else { return row }
        return row + "\n<tr><td colspan=\"5\"><pre>\(output.escaped)</pre></td></tr>"
    }

    private func position(_ time: Duration) -> Double { time / end * Self.width }
}

extension OperationTimeline.Span {
    fileprivate enum Kind: String { case succeeded, failed, cancelled, unfinished }

    fileprivate var kind: Kind {
        if finished == nil { return .unfinished }
        // An operation whose only known outcome is that it has finished has not failed.
        if isSuccess || outcome == "finished" { return .succeeded }
        return outcome.hasPrefix("failed") ? .failed : .cancelled
    }

    fileprivate func ran(until end: Duration) -> Duration? { started.map { (finished ?? end) - $0 } }
}

extension String {
    /// The string as text or attribute value of an HTML page.
    fileprivate var escaped: String {
        var escaped = String.UnicodeScalarView()
        // The loop runs over scalars. After a scalar of the kind Prepend, `<` is part of a longer character, but a browser sees
        // markup.
        for scalar in unicodeScalars {
            switch scalar {
            case "&": escaped.append(contentsOf: "&amp;".unicodeScalars)
            case "<": escaped.append(contentsOf: "&lt;".unicodeScalars)
            case ">": escaped.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": escaped.append(contentsOf: "&quot;".unicodeScalars)
            case "'": escaped.append(contentsOf: "&#39;".unicodeScalars)
            case "\t", "\n": escaped.append(scalar)
            // A page must not contain control characters.
            case "\u{0}"..<"\u{20}", "\u{7F}"..<"\u{A0}": escaped.append("\u{FFFD}")
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }
}

extension Double {
    /// The number with at most two decimals.
    fileprivate var brief: String {
        let hundredths = (self * 100).rounded() / 100
        return hundredths == hundredths.rounded() ? "\(Int(hundredths))" : "\(hundredths)"
    }
}

extension Duration {
    /// A step of 1, 2 or 5 times a power of ten that divides the duration into five to twelve parts.
    fileprivate var roundStep: Duration {
        var step = Duration.nanoseconds(1)
        let factors: [Double] = [2, 2.5, 2]
        var index = 0
        while self / step > 10 {
            step = step * factors[index % 3]
            index += 1
        }
        return step
    }
}
