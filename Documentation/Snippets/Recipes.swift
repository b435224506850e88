import Operations
import OperationsTesting

struct Page: Sendable {
    let host = ""
    let name = ""
}
struct Network: Sendable { func get(_ page: Page) async throws -> Int { 0 } }
struct Database: Sendable { func insert(_ rows: [Int]) async throws {} }
struct Gallery { func show(_ thumbnail: Any) {} }

let (queue, reading, parsing, storing) = (OperationQueue(), OperationQueue(), OperationQueue(), OperationQueue())
let (pages, network, database, gallery) = ([Page()], Network(), Database(), Gallery())
let retry = RetryPolicy(retries: 2)
let jobs = AsyncStream<Int> { nil }
let (rows, files, file) = ([[1]], ["a"], "a")
nonisolated(unsafe) var next = ContinuousClock.now
func work(on job: Int) async throws {}
func report(_ batch: Int, _ error: any Error) {}
func load(_ file: String) async throws -> String { "" }
func parse(_ text: String) throws -> [Int] { [] }
func store(_ words: [Int]) throws {}
func makeReport() async throws {}
func decode(_ file: String) async throws -> Int { 0 }
