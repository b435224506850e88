// Observing operations, a queue, and your own class.

import Observation
import Operations
import OperationsFoundation

// Your own class: one line for the class, one attribute for each property.

final class Download: KeyValueObservable {
    let keyValueRegistrar = KeyValueRegistrar()
    @KeyValueObserved var bytes = 0
    @KeyValueObserved var expected = 200
    var fraction: Double { Double(bytes) / Double(expected) }

    static var keyValueKeys: [KeyValueKey] {
        [
            KeyValueKey("bytes", \Download.bytes),
            KeyValueKey("expected", \Download.expected),
            KeyValueKey("fraction", \Download.fraction, affectedBy: ["bytes", "expected"]),
        ]
    }
}

@main
struct Observing {
    static func main() async {
        let download = Download()
        let fractions = download.observe(\.fraction, options: [.old, .new]) { _, change in
            print("fraction", change.oldValue!, "→", change.newValue!)
        }
        download.bytes = 50
        download.setValue(100, forKey: "bytes")
        fractions.invalidate()

        // An operation: the same code as on Apple's systems.

        let operation = BlockOperation { print("main") }
        operation.name = "fetch"
        let end = operation.observe(\.isFinished, options: [.new]) { operation, change in
            print(operation.name!, "is finished:", change.newValue!)
        }

        // A queue: its properties, and the wait for its operations.

        let queue = OperationQueue()
        queue.name = "downloads"
        let width = queue.observe(\.maxConcurrentOperationCount, options: [.old, .new]) { _, change in
            print("width", change.oldValue!, "→", change.newValue!)
        }
        queue.maxConcurrentOperationCount = 2
        queue.addOperation(operation)
        await queue.waitUntilAllOperationsAreFinished()

        // An asynchronous sequence: the current value, then one value for each change.

        let second = BlockOperation {}
        let states = second.values(for: \.isFinished, bufferingPolicy: .unbounded)
        queue.addOperation(second)
        for await isFinished in states {
            print("isFinished:", isFinished)
            if isFinished { break }
        }

        // The Observation framework: one notification, of the next change of a property that was read.

        let third = BlockOperation {}
        let (changes, notified) = AsyncStream.makeStream(of: Void.self)
        withObservationTracking {
            print("third is finished:", third.isFinished)
        } onChange: {
            notified.finish()
        }
        queue.addOperation(third)
        for await _ in changes {}
        print("third is finished:", third.isFinished)

        withExtendedLifetime((end, width)) {}
    }
}
