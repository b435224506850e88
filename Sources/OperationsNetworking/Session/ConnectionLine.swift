#if Networking
import HTTPCore
import Operations

/// Where exchanges stand until there may be a connection for them (rule R10). Whose turn it is, `ConnectionTurns` says; here
/// they are told.
final class ConnectionLine: Sendable {
    private struct State {
        var turns: ConnectionTurns<HTTPAddress.Origin, ObjectIdentifier>
        var waiting: [ObjectIdentifier: Exchange] = [:]

        mutating func take(_ next: [(asker: ObjectIdentifier, turn: Int)]) -> [(Exchange, turn: Int)] {
            next.compactMap { next in waiting.removeValue(forKey: next.asker).map { ($0, next.turn) } }
        }
    }

    private let state: Locked<State>

    /// - Parameter connections: To one server.
    init(connections: Int) {
        // As many streams as RFC 9113 has every server permit, as a rule.
        state = Locked(State(turns: ConnectionTurns(connections: connections, streams: 100)))
    }

    /// The number of the turn that it has at once; nil: it is told when it has one.
    func ask(_ exchange: Exchange, for server: HTTPAddress.Origin) -> Int? {
        state.withLock { state in
            let turn = state.turns.ask(ObjectIdentifier(exchange), for: server)
            if turn == nil { state.waiting[ObjectIdentifier(exchange)] = exchange }
            return turn
        }
    }

    /// No effect if it has left.
    ///
    /// - Parameter multiplexes: Whether the server speaks HTTP/2; nil if it has not said.
    func leave(_ exchange: Exchange, for server: HTTPAddress.Origin, multiplexes: Bool?) {
        let next = state.withLock { state in
            state.waiting[ObjectIdentifier(exchange)] = nil
            return state.take(state.turns.leave(ObjectIdentifier(exchange), for: server, multiplexes: multiplexes))
        }
        for (exchange, turn) in next { exchange.hasTurn(turn) }
    }

    /// A server speaks HTTP/2.
    func multiplexes(_ server: HTTPAddress.Origin) {
        for (exchange, turn) in state.withLock({ $0.take($0.turns.multiplexes(server)) }) { exchange.hasTurn(turn) }
    }

    /// How many stand in line.
    var waitingCount: Int { state.withLock { $0.turns.waitingCount } }

    /// How many have a turn.
    var turnCount: Int { state.withLock { $0.turns.turnCount } }
}
#endif
