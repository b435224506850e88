import Operations
import Testing

@Suite struct OperationOutcomeTests {
    private enum Missing: Error { case file, folder }
    private struct Plain: Error { var number: Int }

    @Test func `outcomes are equal when they are of one kind, with equal errors`() {
        let outcomes: [OperationOutcome] = [
            .succeeded, .cancelled, .failed(Missing.file), .failed(Missing.folder), .failed(Plain(number: 1)),
            .failed(Plain(number: 2)),
        ]
        for (index, outcome) in outcomes.enumerated() {
            #expect(outcomes.indices.filter { outcomes[$0] == outcome } == [index])
        }
    }

    @Test func `an outcome answers for success, cancellation and failure`() async {
        let (good, bad, stopped) = (BlockOperation {}, TaskOperation { throw Missing.file }, BlockOperation {})
        stopped.cancel()
        await OperationQueue().addOperations([good, bad, stopped], waitUntilFinished: true)
        #expect(good.operationOutcome?.isSucceeded == true && good.operationOutcome?.failure == nil)
        #expect(bad.operationOutcome == .failed(Missing.file) && bad.operationOutcome?.failure as? Missing == .file)
        #expect(stopped.operationOutcome?.isCancelled == true && stopped.operationOutcome?.isSucceeded == false)
    }
}
