import SchedulerCore

extension Operation {
    /// Returns a property for the flow: from the word for a plain block operation, and from the property, overridden or
    /// not, for any other operation.
    @inline(__always)
    final func asked<Answer>(_ known: (Lifecycle) -> Answer, else read: () -> Answer) -> Answer {
        isPlainBlock ? known(word.lifecycle) : untracked(read)
    }
}
