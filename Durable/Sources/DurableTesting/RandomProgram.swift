import DurableCore

/// A source of random events that depend only on a seed and on the state of the reference.
package struct RandomProgram {
    private var random: Numbers
    /// Leases of the past, which the store must refuse.
    private var oldLeases: [Lease] = []
    /// Whether keys have rates. The reference knows no instant at which a rate admits an operation, so that each move of the
    /// clock then also wakes.
    private let hasKeyRates: Bool
    /// Whether additions replace or reject. The programs of other seeds make no choice of a policy: seeds that found faults keep
    /// their programs.
    private let hasUniquePolicies: Bool

    package init(seed: UInt64) {
        (random, hasKeyRates, hasUniquePolicies) = (Numbers(state: seed), seed % 2 == 0, seed % 3 == 0)
    }

    /// Two names that are equal as strings, and have other bytes.
    ///
    /// Each queue, kind, key, unique key and signal has one of the names. A comparison of strings would merge two of each.
    static let names = ["\u{E9}", "e\u{301}"]

    /// Random numbers that depend only on a seed (SplitMix64).
    package struct Numbers: RandomNumberGenerator {
        private var state: UInt64

        package init(state: UInt64) { self.state = state }

        package mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }

    /// Returns the next event.
    package mutating func next(after reference: Reference) -> ProgramEvent {
        let leases = reference.sorted.compactMap(\.lease)
        let lease = chance(10) ? oldLeases.randomElement(using: &random) : leases.randomElement(using: &random)
        if let lease, oldLeases.count < 50 || chance(20) { oldLeases.append(lease) }
        let position = lease.flatMap { reference.operations[$0.operation]?.history } ?? 0
        let worker = reference.workers.keys.sorted().randomElement(using: &random)
        let id = anyID(reference)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<18:
            let lease = chance(30) ? lease : nil
            return .add(batch(reference, lease: lease), by: lease)
        case 18..<20: return .register
        case 20..<40:
            return claim(worker)
        case 40..<58:
            guard let lease else { return claim(worker) }
            return .complete(Completion(lease: lease, result: result()))
        case 58..<62:
            return .advance(microseconds: Int64.random(in: 0...2_000_000, using: &random), wakes: hasKeyRates)
        case 62: return chance(30) ? .observe : .expireLeases
        case 63: return .expireLeases
        case 64..<68: return .wakeDue
        case 68..<71:
            guard let worker else { return .register }
            return chance(85) ? .heartbeat(worker) : .leave(worker)
        case 71..<73: return .cancel(id)
        case 73: return .discard(id)
        case 74..<76: return .retry(endedID(reference) ?? id)
        case 76..<78: return .move(id, to: queue())
        case 78..<80: return .setPriority(id, priority())
        case 80..<82: return .setSuspended(chance(30), queue: queue())
        case 82: return .setLimit(chance(50) ? nil : Int.random(in: 0...4, using: &random), queue: queue())
        case 83 where hasKeyRates && chance(50): return .setRatePerKey(rate(), queue: queue())
        case 84 where hasKeyRates && chance(50): return .setRateOfKey(rate(), key: Self.names[0], queue: queue())
        case 83: return .setLimitPerKey(chance(30) ? nil : Int.random(in: 0...3, using: &random), queue: queue())
        case 84:
            return .setLimitOfKey(
                chance(30) ? nil : Int.random(in: 0...3, using: &random), key: Self.names[0], queue: queue())
        case 85..<98:
            guard let lease else { return claim(worker) }
            return wait(lease, position, reference)
        default: return .purge
        }
    }

    private mutating func rate() -> RateRule? {
        chance(30)
            ? nil
            : RateRule(
                Int.random(in: 1...3, using: &random), per: .milliseconds(Int.random(in: 100...3_000, using: &random)))
    }

    private mutating func claim(_ worker: WorkerID?) -> ProgramEvent {
        guard let worker else { return .register }
        let kinds = chance(80) ? Self.names : [Self.names[0]]
        return .claim(worker, queue: queue(), count: Int.random(in: 1...4, using: &random), kinds: kinds)
    }

    private mutating func wait(_ lease: Lease, _ position: Int64, _ reference: Reference) -> ProgramEvent {
        let delay = Int64.random(in: 0...1_500_000, using: &random)
        let name = name(50)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return .step(lease, position: position)
        case 1: return .sleep(lease, microseconds: delay, position: position)
        case 2: return .awaitSignal(lease, name: name, microseconds: chance(50) ? nil : delay, position: position)
        case 3, 4: return .send(name, to: anyID(reference))
        default: return .awaitOperations(lease, [anyID(reference), anyID(reference)], position: position)
        }
    }

    private mutating func result() -> Completion.Result {
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<6: .succeeded(output: chance(50) ? [] : [7])
        case 6..<8: .failed(reason: "failure", isRetryable: true)
        case 8: .failed(reason: "final", isRetryable: false)
        case 9: chance(50) ? .cancelled : .discarded(reason: "unneeded")
        case 10: .snoozed(.milliseconds(Int.random(in: 0...900, using: &random)))
        default: chance(50) ? .released : .withdrawn
        }
    }

    private mutating func batch(_ reference: Reference, lease: Lease?) -> [NewOperation] {
        let count = Int.random(in: 1...4, using: &random)
        return (0..<count).map { index in
            var member = NewOperation(name: name(50), queue: queue(), input: [UInt8(index)])
            member.priority = priority()
            member.failurePolicy = DurableFailurePolicy.allCases.randomElement(using: &random) ?? .cancel
            if chance(40) { member.key = name(70) }
            if chance(30) { member.retry = .exponential(retries: 2, first: .milliseconds(200)) }
            if chance(15) { member.start = .after(.milliseconds(Int.random(in: 0...1_000, using: &random))) }
            if chance(10) { member.deadline = .milliseconds(Int.random(in: 100...4_000, using: &random)) }
            if chance(15) { member.unique = name(50) }
            if chance(40) { member.uniquePeriod = .seconds(2) }
            if hasUniquePolicies { member.uniquePolicy = chance(60) ? .keep : chance(75) ? .replace : .reject }
            member.isBarrier = chance(4)
            member.isChild = chance(lease == nil ? 1 : 50)
            while chance(35) {
                let isForward = index == 0 || chance(4)
                let other = Int.random(in: 0..<(isForward ? count : index), using: &random)
                member.after.append(chance(50) ? .existing(anyID(reference)) : .member(other))
            }
            return member
        }
    }

    private mutating func anyID(_ reference: Reference) -> OperationID {
        if chance(2) { return OperationID(1_000_000) }
        let unfinished = reference.sorted.filter { !$0.isEnded }.map(\.id)
        let ids = chance(80) && !unfinished.isEmpty ? unfinished : reference.sorted.map(\.id)
        return ids.randomElement(using: &random) ?? OperationID(1)
    }

    private mutating func endedID(_ reference: Reference) -> OperationID? {
        reference.sorted.filter(\.isEnded).map(\.id).randomElement(using: &random)
    }

    private mutating func queue() -> String { name(70) }

    private mutating func priority() -> DurablePriority {
        DurablePriority.allCases.randomElement(using: &random) ?? .normal
    }

    private mutating func name(_ percent: Int) -> String { Self.names[chance(percent) ? 0 : 1] }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
}
