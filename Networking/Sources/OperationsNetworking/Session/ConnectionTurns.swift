/// The turns of requests to servers: a plain value. The number of concurrent requests to a server is limited to the number of
/// its connections, in order of arrival. Every step is O(1), plus the number of requests whose turn it becomes.
///
/// ```text
/// (away) ──► in line ──► has a turn ──► (away)
///               └──────────────────────────▲
/// ```
///
/// A request that waits inside a connection pool cannot distinguish a full pool from a server that refuses connections. So a
/// request enters the pool only when it has a turn.
///
/// An HTTP/2 connection carries many requests at once. When a server turns out to speak HTTP/2, its limit rises.
///
/// Turns have numbers. No two current turns have the same number, and the number returned last is given out first. So a caller
/// that selects connections by these numbers finds recently used idle connections.
struct ConnectionTurns<Server: Hashable & Sendable, Asker: Hashable & Sendable>: Sendable {
    private let connections: Int
    private let streams: Int
    /// The lines of servers with current turns. At any other server a request gets its turn at once, so no request waits there.
    private var lines: [Server: Line] = [:]

    /// Creates the turns for all servers.
    ///
    /// - Parameters:
    ///   - connections: The largest number of connections to a server; at least 1.
    ///   - streams: The largest number of requests to a server that speaks HTTP/2; at least `connections`.
    init(connections: Int, streams: Int) {
        self.connections = max(1, connections)
        self.streams = max(self.connections, streams)
    }

    /// Returns the number of the asker's turn; nil if the asker has to wait. Each asker asks once until it leaves.
    mutating func ask(_ asker: Asker, for server: Server) -> Int? {
        lines[server, default: Line(limit: connections)].enter(asker)
    }

    /// Gives up the asker's turn or its place in line. No effect if the asker has left already. Returns the askers whose turn
    /// it is now, with their numbers.
    ///
    /// - Parameter multiplexes: Whether the server speaks HTTP/2; nil if that is unknown. Several servers may share a name, and
    ///   not all of them speak HTTP/2.
    mutating func leave(_ asker: Asker, for server: Server, multiplexes: Bool? = nil) -> [(asker: Asker, turn: Int)] {
        guard let index = lines.index(forKey: server) else { return [] }
        if multiplexes == false { lines.values[index].limit = connections }
        lines.values[index].leave(asker)
        let next = lines.values[index].advance()
        if lines.values[index].holders.isEmpty { lines.remove(at: index) }
        return next
    }

    /// Records that a server speaks HTTP/2. Returns the askers whose turn it is now, with their numbers.
    mutating func multiplexes(_ server: Server) -> [(asker: Asker, turn: Int)] {
        guard let index = lines.index(forKey: server) else { return [] }
        lines.values[index].limit = streams
        return lines.values[index].advance()
    }

    /// The number of waiting askers.
    var waitingCount: Int { lines.values.reduce(0) { $0 + $1.waiting.count } }

    /// The number of askers that have a turn.
    var turnCount: Int { lines.values.reduce(0) { $0 + $1.holders.count } }

    private struct Line: Sendable {
        var limit: Int
        /// The askers that have a turn, with the numbers of their turns.
        private(set) var holders: [Asker: Int] = [:]
        /// The returned numbers, the latest at the end. Numbers from `holders.count + free.count` on are unused.
        private var free: [Int] = []
        /// The waiting askers by their places. An asker that has left is missing.
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

        /// Gives turns to waiting askers while the limit permits, and returns these askers.
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
