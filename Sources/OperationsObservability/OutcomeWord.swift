import Operations

extension OperationOutcome {
    /// One word for the outcome, for metadata, dimensions and attributes.
    var word: String {
        switch self {
        case .succeeded: "succeeded"
        case .cancelled: "cancelled"
        case .failed: "failed"
        }
    }
}
