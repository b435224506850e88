// A queue does the work, and passes each result to the main queue, which updates the screen.
import OperationsFoundation

/// The output for the user. It belongs to the main thread.
@MainActor final class Screen {
    private var shown = 0

    func show(_ line: String, outOf count: Int) {
        precondition(Thread.isMainThread)
        print("on the main thread: \(line)")
        shown += 1
        // All lines are shown.
        if shown == count { exit(0) }
    }
}

let screen = Screen()
let words = ["level", "operation", "noon", "queue"]
let queue = OperationQueue()

for word in words {
    queue.addOperation {
        precondition(!Thread.isMainThread)
        let isPalindrome = word == String(word.reversed())
        let line = "\(word) is \(isPalindrome ? "a" : "no") palindrome"
        OperationQueue.main.addOperation {
            // The main queue runs on the main actor's thread. The compiler does not know this.
            MainActor.assumeIsolated { screen.show(line, outOf: words.count) }
        }
    }
}

// From here on the main thread runs the main queue. In a program with a user interface the framework does this.
RunLoop.main.run()
