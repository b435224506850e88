import Operations
import OperationsFoundation
import TestSupport
import Testing

/// Rule G5 with key-value observing.
@Suite(.timeLimit(.minutes(5))) struct ProgressObservingTests {
    @Test func `the numbers are announced with their old and new values`() {
        let (queue, log) = (OperationQueue(), Journal<String>())
        queue.maxConcurrentOperationCount = 1
        let progress = queue.progress
        let tokens = [
            progress.observe(\.totalUnitCount, options: [.old, .new]) {
                log.append("total \($1.oldValue!) \($1.newValue!)")
            },
            progress.observe(\.completedUnitCount, options: [.old, .new]) {
                log.append("completed \($1.oldValue!) \($1.newValue!)")
            },
            progress.observe(\.fractionCompleted, options: [.old, .new, .prior]) {
                log.append("\($1.isPrior ? "will" : "did") \($1.oldValue!) \($1.newValue ?? -1)")
            },
        ]
        progress.totalUnitCount = 2
        queue.addOperations([BlockOperation {}], waitUntilFinished: true)
        #expect(log.entries == ["total 0 2", "completed 0 1", "will 0.0 -1.0", "did 0.0 0.5"])
        for token in tokens { token.invalidate() }
        queue.addOperations([BlockOperation {}], waitUntilFinished: true)
        #expect(log.entries.count == 4)
    }

    @Test func `a fraction that a child has completed is announced at once`() {
        let (queue, log, gate, began) = (OperationQueue(), Journal<Double>(), Gate(), Gate())
        let progress = queue.progress
        progress.totalUnitCount = 2
        let token = progress.observe(\.fractionCompleted, options: .new) { log.append($1.newValue!) }
        queue.addOperation {
            let own = Progress(totalUnitCount: 2)
            own.completedUnitCount = 1
            began.open()
            gate.pass()
            own.completedUnitCount = 2
        }
        began.pass()
        #expect(log.entries == [0.25])
        #expect(progress.fractionCompleted == 0.25)
        gate.open()
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries.count == 3 && log.entries.last == 0.5 && log.entries[1] > 0.49)
        token.invalidate()
    }

    @Test(.tags(.threads), arguments: [1, 8])
    func `each unit is announced once, and the values never decrease, for every concurrency limit`(width: Int) {
        let (queue, counts, fractions) = (OperationQueue(), Journal<[Int64]>(), Journal<Double>())
        queue.maxConcurrentOperationCount = width
        let (progress, all) = (queue.progress, Gate(1000))
        progress.totalUnitCount = 1000
        let tokens = [
            progress.observe(\.completedUnitCount, options: [.old, .new]) {
                counts.append([$1.oldValue!, $1.newValue!])
                all.open()
            },
            progress.observe(\.fractionCompleted, options: .new) { fractions.append($1.newValue!) },
        ]
        for _ in 0..<1000 { queue.addOperation {} }
        all.pass()
        #expect(counts.entries == (0..<1000).map { [$0, $0 + 1] })
        #expect(zip(fractions.entries, fractions.entries.dropFirst()).allSatisfy { $0 < $1 })
        for token in tokens { token.invalidate() }
    }

    @Test func `a queue's progress is observed by a key path and by a path of names`() {
        let (queue, log, observer) = (OperationQueue(), Journal<Double>(), Paths())
        queue.progress.totalUnitCount = 2
        let token = queue.observe(\.progress.fractionCompleted, options: .new) { log.append($1.newValue!) }
        queue.addObserver(observer, forKeyPath: "progress.fractionCompleted", context: nil)
        queue.addOperations([BlockOperation {}], waitUntilFinished: true)
        #expect(log.entries == [0.5] && observer.paths.entries == ["progress.fractionCompleted"])
        queue.removeObserver(observer, forKeyPath: "progress.fractionCompleted")
        token.invalidate()
    }

    @Test func `a queue whose progress is observed is freed, and the observation ends`() async {
        var queue: OperationQueue? = OperationQueue()
        let gone = Weak(queue)
        let values = queue!.progress.values(for: \.fractionCompleted, bufferingPolicy: .unbounded)
        var iterator = values.makeAsyncIterator()
        #expect(await iterator.next() == 0)
        queue = nil
        #expect(gone.isGone)
        #expect(await iterator.next() == nil)
    }
}

private final class Paths: KeyValueObserver {
    let paths = Journal<String>()
    func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) { paths.append(keyPath ?? "") }
}
