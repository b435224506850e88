import OperationsFoundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct NotificationCenterTests {
    private let center = NotificationCenter()
    private let name = Notification.Name("it")

    @Test func `a queue of this package runs the block of an observer, and the poster waits`() {
        let queue = OperationQueue()
        queue.name = "observers"
        let seen = Journal<String>()
        let observer = center.addObserver(forName: name, object: nil, queue: queue) { notification in
            seen.append("\(OperationQueue.current?.name ?? "") \(notification.userInfo?["number"] ?? "")")
        }
        for number in 1...3 { center.post(name: name, object: nil, userInfo: ["number": number]) }
        #expect(seen.entries == ["observers 1", "observers 2", "observers 3"])
        center.removeObserver(observer)
        center.post(name: name, object: nil)
        #expect(seen.entries.count == 3)
    }

    @Test func `an operation of a serial queue posts to an observer on its own queue`() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let seen = Journal<String>()
        let observer = center.addObserver(forName: name, object: nil, queue: queue) { _ in seen.append("block") }
        queue.addOperations(
            [
                BlockOperation { [center, name] in
                    center.post(name: name, object: nil)
                    seen.append("after")
                }
            ], waitUntilFinished: true)
        #expect(seen.entries == ["block", "after"])
        center.removeObserver(observer)
    }

    @Test func `nil still chooses the member of Foundation`() {
        let seen = Journal<String>()
        let observer = center.addObserver(forName: name, object: nil, queue: nil) { _ in seen.append("block") }
        center.post(name: name, object: nil)
        #expect(seen.entries == ["block"])
        center.removeObserver(observer)
    }
}
