import Operations
import Synchronization
import TestSupport

/// The spelling of announcements in a test operation.
enum Spelling: CaseIterable, Sendable { case key, shortKey, keyPath }

/// An asynchronous operation that announces in the given spelling, and finishes when the test ends it.
class SpellingOperation: Operation, @unchecked Sendable {
    private enum State: Sendable { case waiting, executing, finished }

    let spelling: Spelling
    let began = Gate()
    let starts = Atomic(0)
    private let state = Guarded(State.waiting)

    init(_ spelling: Spelling = .key) { self.spelling = spelling }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { state.withLock { $0 == .executing } }
    override var isFinished: Bool { state.withLock { $0 == .finished } }

    override func start() {
        starts.add(1, ordering: .relaxed)
        willChange(finishes: false)
        state.withLock { if $0 == .waiting { $0 = .executing } }
        didChange(finishes: false)
        began.open()
    }

    func finish() {
        willChange(finishes: true)
        finishSilently()
        didChange(finishes: true)
    }

    /// Changes the state without an announcement.
    func finishSilently() { state.withLock { $0 = .finished } }

    func willChange(finishes: Bool) {
        switch spelling {
        case .key:
            willChangeValue(forKey: "isExecuting")
            if finishes { willChangeValue(forKey: "isFinished") }
        case .shortKey:
            willChangeValue(forKey: "executing")
            if finishes { willChangeValue(forKey: "finished") }
        case .keyPath:
            willChangeValue(for: \.isExecuting)
            if finishes { willChangeValue(for: \.isFinished) }
        }
    }

    func didChange(finishes: Bool) {
        switch spelling {
        case .key:
            didChangeValue(forKey: "isExecuting")
            if finishes { didChangeValue(forKey: "isFinished") }
        case .shortKey:
            didChangeValue(forKey: "executing")
            if finishes { didChangeValue(forKey: "finished") }
        case .keyPath:
            didChangeValue(for: \.isExecuting)
            if finishes { didChangeValue(for: \.isFinished) }
        }
    }
}
