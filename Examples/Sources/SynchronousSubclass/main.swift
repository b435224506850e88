// A synchronous operation: override `main()`, do the work, return. The queue does the rest.
import OperationsFoundation

/// Counts the primes below a limit.
final class PrimeCount: Operation, @unchecked Sendable {
    // Sendable, though `count` changes: `main()` alone writes it, and others read it when the operation is finished.
    let limit: Int
    private(set) var count = 0

    init(below limit: Int) {
        self.limit = limit
        super.init()
        name = "primes below \(limit)"
    }

    override func main() {
        for number in 2..<limit {
            // Nobody stops an operation by force. It has to look whether it is still wanted.
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
