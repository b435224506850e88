import Operations
import OperationsTesting
import OperationsTimeline
import Testing

/// A name never produces markup in the page.
struct MarkupTests {
    @Test(arguments: ["", "\u{0600}", "\u{0605}", "\u{110BD}", "\u{0301}", "\u{200D}", "\u{1F1E6}", "\r"])
    func `a name does not produce markup after any scalar`(_ scalar: String) {
        let payload = scalar + "<img src=x onerror='alert(1)'>" + scalar + "\"" + scalar + "&lt;"
        let executor = ManualExecutor()
        let queue = executor.makeQueue()
        queue.name = payload
        let trace = OperationTimeline()
        trace.record(queue)
        let operation = BlockOperation {}
        operation.name = payload
        queue.addOperation(operation)
        executor.runUntilIdle()
        let page = trace.htmlTimeline(title: payload).unicodeScalars
        // The page of an operation without a name contains only the intended markup.
        let plain = plainPage
        // A bar that is wide enough for a name has a label: two tags, and two attributes. The width depends on the durations.
        let labels = labelCount(page) - labelCount(plain)
        #expect(count("<", in: page) == count("<", in: plain) + 2 * labels)
        #expect(count("\"", in: page) == count("\"", in: plain) + 4 * labels)
        #expect(count("'", in: page) == count("'", in: plain))
        #expect(!String(page).contains("\r"))
    }

    private func labelCount(_ page: String.UnicodeScalarView) -> Int {
        String(page).split(separator: "</text></g>", omittingEmptySubsequences: false).count - 1
    }

    /// Removes the marks of the axis, because their number depends on the duration of the operation.
    private func count(_ scalar: Unicode.Scalar, in page: String.UnicodeScalarView) -> Int {
        let lines = page.split(separator: "\n").map { String($0) }
        let rest = lines.filter { !$0.contains("class=\"axis\"") && !$0.contains("y=\"-4\"") }
        return rest.joined().unicodeScalars.count { $0 == scalar }
    }

    private var plainPage: String.UnicodeScalarView {
        let executor = ManualExecutor()
        let queue = executor.makeQueue()
        let trace = OperationTimeline()
        trace.record(queue)
        queue.addOperation(BlockOperation {})
        executor.runUntilIdle()
        return trace.htmlTimeline().unicodeScalars
    }
}
