package import DurableCore

/// The operations that the commits of a task probably need. A store may load the rows of many commits by one statement.
package enum CommitHint {
    @TaskLocal package static var operations: [OperationID] = []
}
