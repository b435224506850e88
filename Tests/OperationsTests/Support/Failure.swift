import Operations

enum Failure: Error, Equatable { case expected, other }

extension Optional<OperationOutcome> {
    var described: String { map(\.description) ?? "nil" }

    var error: (any Error)? {
        guard case .failed(let error) = self else { return nil }
        return error
    }
}
