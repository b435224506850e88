/// The end of an operation, as the history of an operation that awaited it keeps it.
package struct AwaitedEnd: Sendable, Hashable {
    package var state: DurableState
    /// The output of an operation that succeeded, or the text of the reason.
    package var content: [UInt8]

    /// The size in bytes up to which a history keeps an end.
    package static let recordedBytes = 64 << 10

    package init(state: DurableState, content: [UInt8]) { (self.state, self.content) = (state, content) }

    /// Creates the value from its stored form; nil if the history has no end yet.
    package init?(bytes: [UInt8]) {
        guard let first = bytes.first, let state = DurableState(rawValue: Int64(first)), state.isEnded else {
            return nil
        }
        self.init(state: state, content: Array(bytes.dropFirst()))
    }

    /// The stored form: the number of the state, and the content.
    ///
    /// A program of an earlier version does not know `crashed`.
    package var bytes: [UInt8] { [UInt8((state == .crashed ? DurableState.failed : state).rawValue)] + content }
}
