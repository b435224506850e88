// A queue of width 1 runs one operation at a time, those of equal priority in the order in which they were added.
import OperationsFoundation

/// Lines on their way to a file. Touched by operations of the serial queue alone, so it needs no lock.
final class Journal: @unchecked Sendable {
    var lines: [String] = []
}

let journal = Journal()
let writer = OperationQueue()
writer.name = "journal"
writer.maxConcurrentOperationCount = 1

// Held back for a moment, so that all are there before the first starts.
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
