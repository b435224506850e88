import Operations
import Testing

@Suite struct SmokeTests {
    @Test func `a queue runs what it is given`() {
        let queue = OperationQueue()
        let log = Log<Int>()
        queue.maxConcurrentOperationCount = 1
        for i in 0..<100 { queue.addOperation { log.append(i) } }
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == Array(0..<100))
    }
}
