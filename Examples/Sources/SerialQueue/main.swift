// A serial queue runs one operation at a time, and operations of equal priority in the order of adding.
import OperationsFoundation

/// Lines for a file. Only operations of the serial queue use them, so they need no lock.
final class Journal: @unchecked Sendable {
    var lines: [String] = []
}

let journal = Journal()
let writer = OperationQueue()
writer.name = "journal"
writer.maxConcurrentOperationCount = 1

// The queue is suspended, so that all operations are in the queue before the first one starts.
writer.isSuspended = true
for number in 1...5 {
    writer.addOperation { journal.lines.append("entry \(number)") }
}
let title = BlockOperation { journal.lines.append("the title, added last") }
title.queuePriority = .veryHigh
writer.addOperation(title)
writer.isSuspended = false

writer.waitUntilAllOperationsAreFinished()
for line in journal.lines { print(line) }
