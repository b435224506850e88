// An import of many rows in batches. The reader of the file is slower or faster than the database, and memory stays small.

import Operations

/// A file that is read line by line. It counts the rows that were read.
struct Rows: Sequence, IteratorProtocol {
    let count: Int
    private(set) var last = 0

    init(count: Int) { self.count = count }

    mutating func next() -> [Int]? {
        guard last < count else { return nil }
        let batch = Array(last..<Swift.min(last + 500, count))
        last += batch.count
        return batch
    }
}

actor Database {
    private(set) var rows = 0
    func insert(_ batch: [Int]) async throws {
        await Task.yield()
        rows += batch.count
    }
}

@main struct RowImport {
    static func main() async {
        let (queue, database) = (OperationQueue(name: "import", maxConcurrentOperationCount: 4), Database())
        var failed: [Int] = []
        // At most eight batches have been read and are not written. A batch that fails is tried again, and then reported.
        let retry = RetryPolicy(retries: 2, backoff: .constant(.milliseconds(10)))
        for await batch in queue.results(
            of: Rows(count: 1_000_000), atMost: 8, retry: retry, { try await database.insert($0) })
        {
            if case .failure = batch.result { failed.append(batch.index) }
        }
        print("\(await database.rows) rows, failed batches: \(failed)")
        let isComplete = await database.rows == 1_000_000
        precondition(isComplete && failed.isEmpty)
    }
}
