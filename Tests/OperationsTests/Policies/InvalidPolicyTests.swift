import Operations
import TestSupport
import Testing

/// A number that a policy cannot have.
enum InvalidNumber: String, CaseIterable, Codable, Sendable {
    case retries, delay, cap, step, smallFactor, unknownFactor, infiniteFactor
    case permits, burst, starts, period
    case limitPerKey, limitOfKey, capacity, starvationLimit
    case resource, laterResource, units, tooManyUnits, unknownResource

    func use() {
        let queue = OperationQueue()
        let pool = ResourcePool(["memory": 2])
        switch self {
        case .retries: _ = RetryPolicy(retries: -1)
        case .delay: _ = RetryPolicy(retries: 1, backoff: .constant(.seconds(-1)))
        case .cap: _ = RetryPolicy(retries: 1, backoff: .linear(.seconds(1), cap: .seconds(-1)))
        case .step: _ = RetryPolicy(retries: 1, backoff: .linear(.seconds(-1)))
        case .smallFactor: _ = RetryPolicy(retries: 1, backoff: .exponential(.seconds(1), factor: 0.5))
        case .unknownFactor: _ = RetryPolicy(retries: 1, backoff: .exponential(.seconds(1), factor: .nan))
        case .infiniteFactor: _ = RetryPolicy(retries: 1, backoff: .exponential(.seconds(1), factor: .infinity))
        case .permits: _ = RateLimit.tokenBucket(0, per: .seconds(1))
        case .burst: _ = RateLimit.tokenBucket(1, per: .seconds(1), burst: -1)
        case .starts: _ = RateLimit.slidingWindow(-1, per: .seconds(1))
        case .period: _ = RateLimit.slidingWindow(1, per: .zero)
        case .limitPerKey: queue.setLimitPerKey(0)
        case .limitOfKey: queue.setLimit(-1, forKey: "key")
        case .capacity: queue.setCapacity(0)
        case .starvationLimit: queue.priorityPolicy = .init(starvationLimit: 0)
        case .resource: _ = ResourcePool(["memory": -1])
        case .laterResource: pool.setCapacity(-1, of: "disk")
        case .units: _ = OperationRequirement.units(0, of: "memory", in: pool)
        case .tooManyUnits: _ = OperationRequirement.units(3, of: "memory", in: pool)
        case .unknownResource: _ = OperationRequirement.units(1, of: "disk", in: pool)
        }
    }
}

@Suite(.tags(.release)) struct InvalidPolicyTests {
    @Test(.timeLimit(.minutes(5)), arguments: InvalidNumber.allCases)
    func `an invalid number stops the process with a remedy`(number: InvalidNumber) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [number] in
            number.use()
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(text.contains("InvalidPolicy: ") || text.contains("ResourceError: "))
        #expect(["Use ", "Require ", "Set "].contains { text.contains($0) })
    }
}
