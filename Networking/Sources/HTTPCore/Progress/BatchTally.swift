/// The state of each member of a batch, and the progress of the batch. The cost of each event does not depend on the
/// number of members.
package struct BatchTally: Sendable {
    /// The outcome of a member.
    package enum Ending: Sendable { case succeeded, failed, cancelled }

    private struct Member {
        var received: Int64 = 0
        /// The length in the response to HEAD.
        var measured: Int64?
        /// The length in the response to the transfer's own request.
        var announced: Int64?
        var hasEnded = false

        var expected: Int64? {
            if hasEnded { return received }
            if let announced { return max(announced, received) }
            // The length from HEAD is wrong if more bytes have arrived.
            return measured.flatMap { $0 >= received ? $0 : nil }
        }
    }

    private var members: [Member]
    /// The greatest plausible length. A greater length counts as unknown, so that the sum of all lengths cannot
    /// overflow.
    private let longest: Int64
    private let stopsAtFailure: Bool
    private var hasStopped = false
    private var unknown: Int
    private var known: Int64 = 0
    /// The progress according to the events so far.
    package private(set) var progress: BatchProgress

    /// - Parameter stopsAtFailure: Whether the first failure cancels all other members.
    package init(count: Int, stopsAtFailure: Bool) {
        members = Array(repeating: Member(), count: count)
        longest = .max / Int64(max(count, 1))
        self.stopsAtFailure = stopsAtFailure
        unknown = count
        progress = BatchProgress(total: count)
    }

    /// Records the length that HEAD announced for a member, or nil. Returns whether the progress changed.
    package mutating func measured(_ index: Int, _ length: Int64?) -> Bool {
        change(index) { $0.measured = length }
    }

    /// Records the received bytes and the announced length of a member. Returns whether the progress changed.
    package mutating func moved(_ index: Int, received: Int64, expected: Int64?) -> Bool {
        change(index) { ($0.received, $0.announced) = (received, expected) }
    }

    /// Records the end of a member, and ignores later events of that member. A cancellation is not a failure.
    ///
    /// - Returns: Whether the caller must cancel all other members. The method returns true once, for the first
    ///   failure, if `stopsAtFailure` is true.
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
        progress.totalBytes = unknown == 0 ? known : nil
        return progress != before
    }

    private mutating func count(_ member: Member, sign: Int64) {
        progress.completedBytes += sign * member.received
        if let expected = member.expected { known += sign * expected } else { unknown += Int(sign) }
    }

    private func plausible(_ length: Int64?) -> Int64? { length.flatMap { 0...longest ~= $0 ? $0 : nil } }
}
