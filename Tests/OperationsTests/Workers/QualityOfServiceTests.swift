import Operations
import TestSupport
import Testing

/// Section 3, rules P5 and P7: the quality of service, which does not affect the order.
@Suite(.timeLimit(.minutes(5))) struct QualityOfServiceTests {
    /// Rule P5.
    @Test func `the raw values are those of Apple's systems`() {
        #expect(QualityOfService.userInteractive.rawValue == 0x21)
        #expect(QualityOfService.userInitiated.rawValue == 0x19)
        #expect(QualityOfService.default.rawValue == -1)
        #expect(QualityOfService.utility.rawValue == 0x11)
        #expect(QualityOfService.background.rawValue == 0x09)
        #expect(QualityOfService.allCases.count == 5)
    }

    /// Rule P5.
    @Test(arguments: [
        [QualityOfService.background, .utility, .default, .userInitiated, .userInteractive],
        [.userInteractive, .background, .default, .userInteractive, .utility, .background],
    ])
    func `quality of service never changes the order in a queue`(qualities: [QualityOfService]) {
        let held = HeldQueue()
        let log = Journal<Int>()
        for (i, quality) in qualities.enumerated() {
            let operation = BlockOperation { log.append(i) }
            operation.qualityOfService = quality
            held.queue.addOperation(operation)
        }
        held.release()
        #expect(log.entries == Array(qualities.indices))
    }

    /// Rule P7.
    @Test func `operations and queues begin with the default quality`() {
        #expect(Operation().qualityOfService == .default)
        #expect(BlockOperation {}.qualityOfService == .default)
        #expect(OperationQueue().qualityOfService == .default)
    }

    /// Rules P7, Q8.
    @Test func `the main queue is userInteractive and cannot change`() {
        let main = OperationQueue.main
        main.qualityOfService = .background
        #expect(main.qualityOfService == .userInteractive)
    }

    /// Rule P6.
    @Test(arguments: QualityOfService.allCases) func `a quality reads back as set`(quality: QualityOfService) {
        let (operation, queue) = (Operation(), OperationQueue())
        operation.qualityOfService = quality
        queue.qualityOfService = quality
        #expect(operation.qualityOfService == quality)
        #expect(queue.qualityOfService == quality)
    }

    /// Rule P6.
    @Test func `the property of an operation keeps reading default when the queue decides`() {
        let queue = OperationQueue()
        queue.qualityOfService = .utility
        let seen = Journal<QualityOfService>()
        let operation = BlockOperation()
        operation.addExecutionBlock { [unowned operation] in seen.append(operation.qualityOfService) }
        queue.addOperation(operation)
        queue.waitUntilAllOperationsAreFinished()
        #expect(seen.entries == [.default])
        #expect(operation.qualityOfService == .default)
    }
}
