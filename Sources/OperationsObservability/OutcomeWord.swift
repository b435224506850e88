import Operations

extension OperationOutcome {
    /// One word, as metadata, dimensions and attributes want it.
    var word: String {
        switch self {
        case .succeeded: "succeeded"
        case .cancelled: "cancelled"
        case .failed: "failed"
        }
    }
}
