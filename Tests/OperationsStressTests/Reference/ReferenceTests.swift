import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Random programs over several queues and every feature, compared with a slow and obvious reference.
///
/// A failure names its seed, and the calls that remain after the removal of irrelevant ones. `OPERATIONS_REFERENCE_SEED`
/// repeats one seed. With `OPERATIONS_REFERENCE_TRACE` each seed is printed before its run. `OPERATIONS_REFERENCE_PROGRAMS` is
/// the number of programs under the manual executor.
@Suite(.onOwnThread, .timeLimit(.minutes(60)), .tags(.release, .slow)) struct ReferenceTests {
    private static let seed = getenv("OPERATIONS_REFERENCE_SEED").flatMap { UInt64(String(cString: $0)) }
    private static let programs = getenv("OPERATIONS_REFERENCE_PROGRAMS").flatMap { Int(String(cString: $0)) }
    private static let isTraced = getenv("OPERATIONS_REFERENCE_TRACE") != nil

    @Test func `queues under a manual executor behave like the reference, step by step`() {
        for seed in Self.seeds(Self.programs ?? Stress.rounds(600, small: 5)) {
            if Self.isTraced { print("reference: seed \(seed)") }
            guard let found = ManualRun.difference(of: RandomProgram(seed: seed)) else { continue }
            Issue.record("seed \(seed), after \(found.calls) calls: \(found.what)\n\(Self.smallest(seed: seed))")
            return
        }
    }

    @Test(.tags(.threads), arguments: 1...3)
    func `queues on threads keep order, limits, barriers and exclusion, and lose no operation`(part: Int) {
        for seed in Self.seeds(Stress.rounds(100, small: 2)) {
            if Self.isTraced { print("reference: seed \(seed)") }
            let faults = ThreadedRun.faults(of: RandomProgram(seed: seed))
            guard !faults.isEmpty else { continue }
            Issue.record("seed \(seed): \(faults.joined(separator: "; "))")
            return
        }
    }

    private static func seeds(_ count: Int) -> [UInt64] {
        if let seed { return [seed] }
        let first = UInt64.random(in: 1..<1 << 40)
        print("reference: \(count * RandomProgram.size) operations, seeds \(first)..<\(first + UInt64(count))")
        return (0..<UInt64(count)).map { first + $0 }
    }

    /// Returns the calls that still cause a difference: first the shortest such prefix, then without each unnecessary call.
    private static func smallest(seed: UInt64) -> String {
        var program = RandomProgram(seed: seed)
        var what = ""
        func differs(_ changed: RandomProgram) -> Bool {
            guard let found = ManualRun.difference(of: changed) else { return false }
            (program, what) = (changed, found.what)
            return true
        }
        for length in 0...program.calls.count {
            var shorter = program
            shorter.calls = Array(program.calls.prefix(length))
            if differs(shorter) { break }
        }
        for index in program.calls.indices.reversed() {
            var shorter = program
            shorter.calls.remove(at: index)
            _ = differs(shorter)
        }
        for index in program.plans.indices {
            var plainer = program
            plainer.plans[index] = .init()
            plainer.plans[index].queue = program.plans[index].queue
            if differs(plainer) { continue }
            plainer = program
            plainer.plans[index].kind = .block
            _ = differs(plainer)
        }
        return "smallest: \(what)\n\(program)"
    }
}
