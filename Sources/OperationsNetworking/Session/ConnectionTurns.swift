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

    /// True: it has a turn at once. Else it is in line. Each asks once, until it leaves.
    mutating func ask(_ asker: Asker, for server: Server) -> Bool {
        lines[server, default: Line(limit: connections)].enter(asker)
    }

    /// It gives its turn back, or leaves the line; no effect if it has done so. Answers whose turn it is now.
    ///
    /// - Parameter multiplexes: Whether the server speaks HTTP/2; nil if it has not said. Behind one name there may be some
    ///   that do, and others.
    mutating func leave(_ asker: Asker, for server: Server, multiplexes: Bool? = nil) -> [Asker] {
        guard let index = lines.index(forKey: server) else { return [] }
        if multiplexes == false { lines.values[index].limit = connections }
        lines.values[index].leave(asker)
        let next = lines.values[index].advance()
        if lines.values[index].holders.isEmpty { lines.remove(at: index) }
        return next
    }

    /// A server speaks HTTP/2. Answers whose turn it is now.
    mutating func multiplexes(_ server: Server) -> [Asker] {
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
        private(set) var holders: Set<Asker> = []
        /// By their places; who has left is not there any more.
        private(set) var waiting: [Int: Asker] = [:]
        private var places: [Asker: Int] = [:]
        private var (first, end) = (0, 0)

        init(limit: Int) { self.limit = limit }

        mutating func enter(_ asker: Asker) -> Bool {
            if holders.count < limit { return holders.insert(asker).inserted }
            (waiting[end], places[asker]) = (asker, end)
            end += 1
            return false
        }

        mutating func leave(_ asker: Asker) {
            if let place = places.removeValue(forKey: asker) { waiting[place] = nil } else { holders.remove(asker) }
        }

        /// Those whose turn it is now.
        mutating func advance() -> [Asker] {
            var next: [Asker] = []
            while holders.count < limit, first < end {
                first += 1
                guard let asker = waiting.removeValue(forKey: first - 1) else { continue }
                places[asker] = nil
                holders.insert(asker)
                next.append(asker)
            }
            return next
        }
    }
}
#endif
