import HTTPCore
import Operations

/// The exchanges that wait for a connection. `ConnectionTurns` decides the order, and this type notifies the exchanges.
final class ConnectionLine: Sendable {
    private struct State {
        var turns: ConnectionTurns<HTTPAddress.Origin, ObjectIdentifier>
        var waiting: [ObjectIdentifier: Exchange] = [:]

        mutating func take(_ next: [(asker: ObjectIdentifier, turn: Int)]) -> [(Exchange, turn: Int)] {
            next.compactMap { next in waiting.removeValue(forKey: next.asker).map { ($0, next.turn) } }
        }
    }

    private let state: Locked<State>

    /// - Parameter connections: The number of connections to one server.
    init(connections: Int) {
        // RFC 9113 recommends that every server permits at least 100 streams.
        state = Locked(State(turns: ConnectionTurns(connections: connections, streams: 100)))
    }

    /// Returns the number of the exchange's turn; nil if the exchange has to wait. A waiting exchange is notified of its turn
    /// later.
    func ask(_ exchange: Exchange, for server: HTTPAddress.Origin) -> Int? {
        state.withLock { state in
            let turn = state.turns.ask(ObjectIdentifier(exchange), for: server)
            if turn == nil { state.waiting[ObjectIdentifier(exchange)] = exchange }
            return turn
        }
    }

    /// Gives up the exchange's turn or its place in line. No effect if the exchange has left already.
    ///
    /// - Parameter multiplexes: Whether the server speaks HTTP/2; nil if that is unknown.
    func leave(_ exchange: Exchange, for server: HTTPAddress.Origin, multiplexes: Bool?) {
        let next = state.withLock { state in
            state.waiting[ObjectIdentifier(exchange)] = nil
            return state.take(state.turns.leave(ObjectIdentifier(exchange), for: server, multiplexes: multiplexes))
        }
        for (exchange, turn) in next { exchange.hasTurn(turn) }
    }

    /// Records that a server speaks HTTP/2, which gives more exchanges a turn.
    func multiplexes(_ server: HTTPAddress.Origin) {
        for (exchange, turn) in state.withLock({ $0.take($0.turns.multiplexes(server)) }) { exchange.hasTurn(turn) }
    }

    /// The number of waiting exchanges.
    var waitingCount: Int { state.withLock { $0.turns.waitingCount } }

    /// The number of exchanges that have a turn.
    var turnCount: Int { state.withLock { $0.turns.turnCount } }
}
