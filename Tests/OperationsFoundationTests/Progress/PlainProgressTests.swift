import Operations
import OperationsFoundation
import TestSupport
import Testing

/// Rule G5 for a progress that is not the progress of a queue.
@Suite(.timeLimit(.minutes(5))) struct PlainProgressTests {
    @Test func `each progress has separate observers`() {
        let (a, b) = (Progress(totalUnitCount: 1), Progress(totalUnitCount: 1))
        let log = Journal<String>()
        let token = b.observe(\.fractionCompleted) { progress, _ in log.append(progress === b ? "b" : "?") }
        a.willChangeValue(for: \.fractionCompleted)
        a.didChangeValue(for: \.fractionCompleted)
        #expect(log.entries.isEmpty)
        let observer = Named()
        b.addObserver(observer, forKeyPath: "fractionCompleted", context: nil)
        #expect(throws: KeyValueError.self) { try a.tryRemoveObserver(observer, forKeyPath: "fractionCompleted") }
        b.completedUnitCount = 1
        #expect(log.entries == ["b"] && observer.paths.entries == ["fractionCompleted"])
        b.removeObserver(observer, forKeyPath: "fractionCompleted")
        token.invalidate()
    }

    @Test func `a plain progress announces its changes and its children's changes`() {
        let (progress, log) = (Progress(totalUnitCount: 4), Journal<String>())
        let tokens = [
            progress.observe(\.fractionCompleted, options: [.old, .new]) {
                log.append("fraction \($1.oldValue!) \($1.newValue!)")
            },
            progress.observe(\.completedUnitCount, options: .new) { log.append("completed \($1.newValue!)") },
            progress.observe(\.isFinished, options: .new) { log.append("finished \($1.newValue!)") },
        ]
        progress.completedUnitCount = 1
        let child = Progress(totalUnitCount: 2, parent: progress, pendingUnitCount: 3)
        child.completedUnitCount = 1
        child.completedUnitCount = 2
        #expect(
            log.entries == [
                "completed 1", "fraction 0.0 0.25", "fraction 0.25 0.625", "completed 4", "fraction 0.625 1.0",
                "finished true",
            ])
        for token in tokens { token.invalidate() }
    }

    @Test func `cancelling and pausing are announced, of a plain progress and of a queue's`() {
        for progress in [Progress(totalUnitCount: 1), OperationQueue().progress] {
            let log = Journal<String>()
            let tokens = [
                progress.observe(\.isCancelled, options: .new) { log.append("cancelled \($1.newValue!)") },
                progress.observe(\.isPaused, options: .new) { log.append("paused \($1.newValue!)") },
            ]
            progress.pause()
            progress.resume()
            progress.cancel()
            #expect(log.entries == ["paused true", "paused false", "cancelled true"])
            for token in tokens { token.invalidate() }
        }
    }

    @Test func `the values of a plain progress end at its deallocation`() async {
        var progress: Progress? = Progress.discreteProgress(totalUnitCount: 2)
        var values = progress!.values(for: \.completedUnitCount, bufferingPolicy: .unbounded).makeAsyncIterator()
        #expect(await values.next() == 0)
        progress!.completedUnitCount = 1
        #expect(await values.next() == 1)
        progress = nil
        #expect(await values.next() == nil)
    }

    @Test func `the parent of a queue's progress is notified, in each order of observing and adding`() {
        for observesFirst in [true, false] {
            let (queue, above, log) = (OperationQueue(), Progress(totalUnitCount: 1), Journal<Double>())
            queue.progress.totalUnitCount = 2
            var token: NSKeyValueObservation?
            func observe() {
                token = above.observe(\.fractionCompleted, options: .new) { log.append($1.newValue!) }
            }
            if observesFirst { observe() }
            above.addChild(queue.progress, withPendingUnitCount: 1)
            if !observesFirst { observe() }
            queue.addOperations([BlockOperation {}, BlockOperation {}], waitUntilFinished: true)
            #expect(log.entries == [0.5, 1])
            token?.invalidate()
        }
    }

    @Test func `an observed progress still works as an ordinary progress`() {
        let progress = Progress(totalUnitCount: 3)
        let token = progress.observe(\.isFinished) { _, _ in }
        progress.becomeCurrent(withPendingUnitCount: 1)
        #expect(Progress.current() === progress)
        progress.resignCurrent()
        #expect(progress.completedUnitCount == 1 && progress.description.hasPrefix("<Progress"))
        progress.kind = .file
        progress.setUserInfoObject("x", forKey: .fileURLKey)
        #expect(progress.kind == .file && progress.userInfo[.fileURLKey] as? String == "x")
        token.invalidate()
    }

    @Test func `an object of a subclass has separate observers and makes its own announcements`() {
        let (a, b, log) = (Special(parent: nil, userInfo: nil), Special(parent: nil, userInfo: nil), Journal<Int>())
        let token = b.observe(\.note, options: .new) { log.append($1.newValue!) }
        a.note = 1
        b.note = 2
        #expect(log.entries == [2])
        token.invalidate()
        weak var gone: Special?
        do {
            let special = Special(parent: nil, userInfo: nil)
            gone = special
            special.observe(\.note) { _, _ in }.invalidate()
        }
        #expect(gone == nil)
    }
}

private final class Special: Progress, @unchecked Sendable {
    var note = 0 {
        willSet { willChangeValue(for: \.note) }
        didSet { didChangeValue(for: \.note) }
    }
}

private final class Named: KeyValueObserver {
    let paths = Journal<String>()
    func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) { paths.append(keyPath ?? "") }
}
