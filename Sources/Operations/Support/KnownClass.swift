import SchedulerCore

extension Operation {
    /// Whether the operation is a block operation of the class itself. No member is overridden, so the word has the value of
    /// each state, and no code of the user runs in `start()` besides the blocks.
    @inline(__always)
    final var isPlainBlock: Bool { type(of: self) == BlockOperation.self }

    /// Returns a property for the flow: from the word for a plain block operation, and from the property, overridden or
    /// not, for any other operation.
    @inline(__always)
    final func asked<Answer>(_ known: (Lifecycle) -> Answer, else read: () -> Answer) -> Answer {
        isPlainBlock ? known(word.lifecycle) : untracked(read)
    }
}
