import Testing

@testable import WorkflowEngine

struct MeaninglessValueTests {
    @Test(arguments: [
        ("run: ''", "w:1:23: error: 'run' has no command; give it the shell command to run"),
        ("run: ' '", "w:1:23: error: 'run' has no command; give it the shell command to run"),
        ("run: x, timeout: 0s", "w:1:35: error: 'timeout' must be more than 0s; leave it out for no limit"),
        ("run: x, retries: {delay: 1s}", "w:1:35: error: 'retries' has no 'count'; add count: with a number"),
        ("run: x, retries: {count: 1, on: []}", "w:1:50: error: 'on' lists no status; leave it out for all failures"),
        ("run: x, retries: {count: 1, on: [256]}", "w:1:51: error: 'on' must be 255 or less, found 256"),
        ("run: x, retries: {count: 1, on: [1, 255]}", nil), ("run: x, grace: 0s", nil),
    ])
    func `a value without a meaning is an error`(keys: String, complaint: String?) {
        #expect(complaints(about: "operations: {f: {\(keys)}}") == [complaint].compactMap(\.self))
    }

    @Test func `a number with a plus sign is an error`() {
        #expect(
            complaints(about: "queues: {q: {concurrency: +3}}\noperations: {f: {run: x}}").first?.contains(
                "write it in decimal digits, without a sign or a zero first") == true)
    }
}
