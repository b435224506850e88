#if Networking
/// Who may send a request to which server now: at most as many at a time as there may be connections to it, the first come
/// first (rule R10). A plain value; every step is O(1), but for those whose turn it becomes.
///
///     (away) ──► in line ──► has a turn ──► (away)
///                   └──────────────────────────▲
///
/// Who waits for a free connection inside a pool of them cannot tell that from a server that does not let him connect. So
/// nobody goes there before it is his turn.
///
/// A connection of HTTP/2 takes many requests at once: when a server is found to speak that, its line goes on.
///
/// Turns have numbers. At no time do two who have a turn have the same, and what was given back last is given first: so who
/// keeps to connections by their numbers finds them idle, and used not long ago.
struct ConnectionTurns<Server: Hashable & Sendable, Asker: Hashable & Sendable>: Sendable {
    private let connections: Int
    private let streams: Int
    /// Where somebody has a turn. Who asks elsewhere has one at once: so nobody waits elsewhere.
    private var lines: [Server: Line] = [:]

    /// - Parameters:
    ///   - connections: To a server, at a time; at least one.
    ///   - streams: Requests at a time to a server that speaks HTTP/2; at least as many.
    init(connections: Int, streams: Int) {
        self.connections = max(1, connections)
        self.streams = max(self.connections, streams)
    }

    /// The number of the turn that it has at once; nil if it is in line. Each asks once, until it leaves.
    mutating func ask(_ asker: Asker, for server: Server) -> Int? {
        lines[server, default: Line(limit: connections)].enter(asker)
    }

    /// It gives its turn back, or leaves the line; no effect if it has done so. Answers whose turn it is now, and its number.
    ///
    /// - Parameter multiplexes: Whether the server speaks HTTP/2; nil if it has not said. Behind one name there may be some
    ///   that do, and others.
    mutating func leave(_ asker: Asker, for server: Server, multiplexes: Bool? = nil) -> [(asker: Asker, turn: Int)] {
        guard let index = lines.index(forKey: server) else { return [] }
        if multiplexes == false { lines.values[index].limit = connections }
        lines.values[index].leave(asker)
        let next = lines.values[index].advance()
        if lines.values[index].holders.isEmpty { lines.remove(at: index) }
        return next
    }

    /// A server speaks HTTP/2. Answers whose turn it is now, and its number.
    mutating func multiplexes(_ server: Server) -> [(asker: Asker, turn: Int)] {
        guard let index = lines.index(forKey: server) else { return [] }
        lines.values[index].limit = streams
        return lines.values[index].advance()
    }

    /// How many stand in line.
    var waitingCount: Int { lines.values.reduce(0) { $0 + $1.waiting.count } }

    /// How many have a turn.
    var turnCount: Int { lines.values.reduce(0) { $0 + $1.holders.count } }

    private struct Line: Sendable {
        var limit: Int
        /// With the numbers of their turns.
        private(set) var holders: [Asker: Int] = [:]
        /// Numbers that were given back, the last one at the end; those from `holders.count + free.count` on are new.
        private var free: [Int] = []
        /// By their places; who has left is not there any more.
        private(set) var waiting: [Int: Asker] = [:]
        private var places: [Asker: Int] = [:]
        private var (first, end) = (0, 0)

        init(limit: Int) { self.limit = limit }

        mutating func enter(_ asker: Asker) -> Int? {
            if holders.count < limit { return hold(asker) }
            (waiting[end], places[asker]) = (asker, end)
            end += 1
            return nil
        }

        private mutating func hold(_ asker: Asker) -> Int {
            let turn = free.popLast() ?? holders.count
            holders[asker] = turn
            return turn
        }

        mutating func leave(_ asker: Asker) {
            if let place = places.removeValue(forKey: asker) {
                waiting[place] = nil
            } else if let turn = holders.removeValue(forKey: asker) {
                free.append(turn)
            }
        }

        /// Those whose turn it is now.
        mutating func advance() -> [(asker: Asker, turn: Int)] {
            var next: [(asker: Asker, turn: Int)] = []
            while holders.count < limit, first < end {
                first += 1
                guard let asker = waiting.removeValue(forKey: first - 1) else { continue }
                places[asker] = nil
                next.append((asker, hold(asker)))
            }
            return next
        }
    }
}
#endif
