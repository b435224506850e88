// A synchronous operation: override `main()`, do the work, and return.
import OperationsFoundation

/// An operation that counts the primes below a limit.
final class PrimeCount: Operation, @unchecked Sendable {
    // Sendable: only `main()` writes `count`, and other code reads `count` after the operation has finished.
    let limit: Int
    private(set) var count = 0

    init(below limit: Int) {
        self.limit = limit
        super.init()
        name = "primes below \(limit)"
    }

    override func main() {
        for number in 2..<limit {
            // Nothing stops an operation by force. The operation has to check whether it is cancelled.
            if isCancelled { return }
            if isPrime(number) { count += 1 }
        }
    }

    private func isPrime(_ number: Int) -> Bool {
        var divisor = 2
        while divisor * divisor <= number {
            if number % divisor == 0 { return false }
            divisor += 1
        }
        return true
    }
}

let queue = OperationQueue()
let small = PrimeCount(below: 1_000)
let large = PrimeCount(below: 100_000)
let endless = PrimeCount(below: .max)

for operation in [small, large, endless] { queue.addOperation(operation) }

small.waitUntilFinished()
large.waitUntilFinished()
endless.cancel()
endless.waitUntilFinished()

for operation in [small, large, endless] {
    let end = operation.isCancelled ? "was cancelled" : "found \(operation.count)"
    print("\(operation.name ?? "?"): \(end)")
}
