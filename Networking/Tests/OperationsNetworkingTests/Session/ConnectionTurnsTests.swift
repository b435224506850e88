@testable import OperationsNetworking
import TestSupport
import Testing

@Suite struct ConnectionTurnsTests {
    /// Expects the turns that a step returns. `#expect` itself cannot call a mutating function.
    private func expect(
        _ next: [(asker: Int, turn: Int)], _ expected: [Int], at location: SourceLocation = #_sourceLocation
    ) {
        #expect(next.map(\.asker) == expected, sourceLocation: location)
    }

    @Test func `each server has as many turns as connections, in order of arrival`() {
        var turns = ConnectionTurns<String, Int>(connections: 2, streams: 100)
        let atOnce = [1, 2, 3, 4].filter { turns.ask($0, for: "a") != nil }
        let isAlone = turns.ask(5, for: "b") != nil
        #expect(atOnce == [1, 2] && isAlone)
        expect(turns.leave(2, for: "a"), [3])
        expect(turns.leave(1, for: "a"), [4])
        expect(turns.leave(3, for: "a"), [])
        expect(turns.leave(5, for: "b"), [])
    }

    @Test func `an asker that left the line is skipped, and leaving twice takes no other turn`() {
        var turns = ConnectionTurns<String, Int>(connections: 1, streams: 100)
        for asker in 1...4 { _ = turns.ask(asker, for: "a") }
        expect(turns.leave(2, for: "a"), [])
        expect(turns.leave(1, for: "a"), [3])
        expect(turns.leave(1, for: "a"), [])
        expect(turns.leave(2, for: "a"), [])
        expect(turns.leave(3, for: "a"), [4])
    }

    @Test func `the first HTTP 2 response raises the limit to the streams of a connection`() {
        var turns = ConnectionTurns<String, Int>(connections: 2, streams: 5)
        for asker in 1...9 { _ = turns.ask(asker, for: "a") }
        expect(turns.multiplexes("a"), [3, 4, 5])
        expect(turns.multiplexes("a"), [])
        expect(turns.leave(1, for: "a"), [6])
        expect(turns.multiplexes("who has never asked"), [])
        for asker in 2...9 { _ = turns.leave(asker, for: "a") }
        // The limit is that of HTTP/1 again, because another server may answer next.
        let atOnce = [1, 2, 3].filter { turns.ask($0, for: "a") != nil }
        #expect(atOnce == [1, 2])
    }

    @Test func `an HTTP 1 response lowers the limit to the number of connections`() {
        var turns = ConnectionTurns<String, Int>(connections: 1, streams: 3)
        for asker in 1...6 { _ = turns.ask(asker, for: "a") }
        expect(turns.multiplexes("a"), [2, 3])
        expect(turns.leave(1, for: "a", multiplexes: true), [4])
        expect(turns.leave(2, for: "a", multiplexes: false), [])
        expect(turns.leave(3, for: "a", multiplexes: nil), [])
        expect(turns.leave(4, for: "a", multiplexes: false), [5])
    }

    @Test func `turns have numbers, and the number returned last is given out first`() {
        var turns = ConnectionTurns<String, Int>(connections: 3, streams: 5)
        let first = (1...4).map { turns.ask($0, for: "a") }
        #expect(first == [0, 1, 2, nil])
        let next = turns.leave(2, for: "a")
        #expect(next.map(\.turn) == [1])
        expect(turns.leave(1, for: "a"), [])
        expect(turns.leave(3, for: "a"), [])
        let again = [turns.ask(5, for: "a"), turns.ask(6, for: "a")]
        #expect(again == [2, 0])
        // After the last turn has come back, the numbers begin at 0 again.
        for asker in 4...6 { expect(turns.leave(asker, for: "a"), []) }
        let new = turns.ask(7, for: "a")
        #expect(new == 0)
    }

    @Test(arguments: 0..<UInt64(Stress.rounds(300, least: 75)))
    func `no asker is forgotten or shares a turn, for random events`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let (connections, streams) = (random.below(4), random.below(8))
        var turns = ConnectionTurns<Int, Int>(connections: connections, streams: streams)
        var (holders, lines, multiplexing) = ([Int: [Int]](), [Int: [Int]](), Set<Int>())
        var numbers = [Int: [Int: Int]]()

        func limit(_ server: Int) -> Int {
            multiplexing.contains(server) ? max(1, connections, streams) : max(1, connections)
        }
        func next(_ server: Int) -> [Int] {
            var next: [Int] = []
            while holders[server, default: []].count < limit(server), !lines[server, default: []].isEmpty {
                next.append(lines[server]!.removeFirst())
                holders[server, default: []].append(next.last!)
            }
            if holders[server, default: []].isEmpty { multiplexing.remove(server) }
            return next
        }
        func check(
            _ answers: [(asker: Int, turn: Int)], _ server: Int, at location: SourceLocation = #_sourceLocation
        ) {
            for (asker, turn) in answers {
                #expect(!numbers[server, default: [:]].values.contains(turn), sourceLocation: location)
                #expect(turn < limit(server), sourceLocation: location)
                numbers[server, default: [:]][asker] = turn
            }
        }

        for step in 0..<400 {
            let server = random.below(3)
            switch random.below(10) {
            case 0..<5:
                let isTurn = holders[server, default: []].count < limit(server)
                let turn = turns.ask(step, for: server)
                #expect((turn != nil) == isTurn)
                if let turn { check([(step, turn)], server) }
                if isTurn { holders[server, default: []].append(step) } else { lines[server, default: []].append(step) }
            case 5..<9:
                let all = holders[server, default: []] + lines[server, default: []]
                guard !all.isEmpty else { continue }
                let asker = all[random.below(all.count)]
                holders[server]?.removeAll { $0 == asker }
                lines[server]?.removeAll { $0 == asker }
                numbers[server]?[asker] = nil
                let answers = turns.leave(asker, for: server)
                check(answers, server)
                expect(answers, next(server))
            default:
                if !holders[server, default: []].isEmpty { multiplexing.insert(server) }
                let answers = turns.multiplexes(server)
                check(answers, server)
                expect(answers, next(server))
            }
            #expect(turns.waitingCount == lines.values.reduce(0) { $0 + $1.count })
            #expect(turns.turnCount == holders.values.reduce(0) { $0 + $1.count })
        }
    }
}
