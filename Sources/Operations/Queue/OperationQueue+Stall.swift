public struct StallReport: Sendable {}
final class StallWatch: Sendable { func cancel() {} }
extension OperationQueue {
    func watchForStall(_ state: inout State) {}
}
