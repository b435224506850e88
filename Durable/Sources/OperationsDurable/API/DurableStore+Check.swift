import DurableCore

extension DurableStore {
    /// Compares the counts and states of the store with a recount, in one snapshot, and changes nothing.
    ///
    /// The time grows with the number of stored operations. Workers continue meanwhile. The bytes of a file are not checked:
    /// `SQLiteStore.checkFile()` does this.
    ///
    /// - Parameter limit: The largest number of problems.
    /// - Returns: A text for each problem; nothing for a sound store.
    public func check(limit: Int = 100) async throws -> [String] { try await read { try $0.problems(limit: limit) } }
}
