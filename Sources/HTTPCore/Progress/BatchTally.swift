#if Networking
/// What is known of each member of a batch, and what that makes together (rule N3). Each event costs the same, however
/// many members there are.
package struct BatchTally: Sendable {
    /// How a member has ended.
    package enum Ending: Sendable { case succeeded, failed, cancelled }

    private struct Member {
        var received: Int64 = 0
        /// What HEAD has said.
        var measured: Int64?
        /// What the answer itself says.
        var announced: Int64?
        var hasEnded = false

        var expected: Int64? {
            if hasEnded { return received }
            if let announced { return max(announced, received) }
            // More has come than was said: so what was said means nothing.
            return measured.flatMap { $0 >= received ? $0 : nil }
        }
    }

    private var members: [Member]
    /// Greater lengths are those of no body, and are not known: so the sum of all never overflows.
    private let longest: Int64
    private let stopsAtFailure: Bool
    private var hasStopped = false
    private var unknown: Int
    private var known: Int64 = 0
    /// What has been counted so far.
    package private(set) var progress: BatchProgress

    /// - Parameter stopsAtFailure: The first failure is to cancel all other members.
    package init(count: Int, stopsAtFailure: Bool) {
        members = Array(repeating: Member(), count: count)
        longest = .max / Int64(max(count, 1))
        self.stopsAtFailure = stopsAtFailure
        unknown = count
        progress = BatchProgress(total: count)
    }

    /// HEAD has said how much a member will be; nil if it has not. Answers whether that makes a difference.
    package mutating func measured(_ index: Int, _ length: Int64?) -> Bool {
        change(index) { $0.measured = length }
    }

    /// So much has come of a member, and this is what its answer announces. Answers whether that makes a difference.
    package mutating func moved(_ index: Int, received: Int64, expected: Int64?) -> Bool {
        change(index) { ($0.received, $0.announced) = (received, expected) }
    }

    /// A member has ended. Answers whether all others are to be cancelled: once, for the first failure, if that was chosen.
    /// Being cancelled is no failure. What comes of a member later is not counted.
    package mutating func ended(_ index: Int, received: Int64, _ ending: Ending) -> Bool {
        guard members.indices.contains(index), !members[index].hasEnded else { return false }
        _ = change(index) { ($0.received, $0.hasEnded) = (received, true) }
        progress.finished += 1
        if ending != .succeeded { progress.failed += 1 }
        guard stopsAtFailure, !hasStopped, ending == .failed else { return false }
        hasStopped = true
        return true
    }

    private mutating func change(_ index: Int, _ body: (inout Member) -> Void) -> Bool {
        guard members.indices.contains(index), !members[index].hasEnded else { return false }
        let before = progress
        count(members[index], sign: -1)
        body(&members[index])
        members[index].received = min(max(members[index].received, 0), longest)
        members[index].measured = plausible(members[index].measured)
        members[index].announced = plausible(members[index].announced)
        count(members[index], sign: 1)
        progress.expected = unknown == 0 ? known : nil
        return progress != before
    }

    private mutating func count(_ member: Member, sign: Int64) {
        progress.received += sign * member.received
        if let expected = member.expected { known += sign * expected } else { unknown += Int(sign) }
    }

    private func plausible(_ length: Int64?) -> Int64? { length.flatMap { 0...longest ~= $0 ? $0 : nil } }
}
#endif
