// The work is done in a queue; what comes of it is handed to the main queue, where a program keeps what it shows.
import OperationsFoundation

/// What the user sees. Belongs to the main thread.
@MainActor final class Screen {
    private var shown = 0

    func show(_ line: String, outOf count: Int) {
        precondition(Thread.isMainThread)
        print("on the main thread: \(line)")
        shown += 1
        // Nothing is left to wait for.
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
            // The main queue runs on the main actor's thread; the compiler has to be told.
            MainActor.assumeIsolated { screen.show(line, outOf: words.count) }
        }
    }
}

// The main thread serves the main queue from now on. In a program with a user interface its framework does this.
RunLoop.main.run()
