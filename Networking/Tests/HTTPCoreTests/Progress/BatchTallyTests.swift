import HTTPCore
import TestSupport
import Testing

@Suite struct BatchTallyTests {
    @Test func `an empty batch is complete`() {
        let progress = BatchTally(count: 0, stopsAtFailure: true).progress
        #expect(progress.isComplete && progress.fraction == 1 && progress.totalBytes == 0)
    }

    @Test func `the total is known once each member's length is known, from HEAD or from its response`() {
        var tally = BatchTally(count: 3, stopsAtFailure: false)
        #expect(tally.progress.totalBytes == nil)
        let areNews = [
            tally.measured(0, 10), tally.measured(1, nil), tally.moved(1, received: 5, expected: 20),
            tally.measured(2, 30),
        ]
        #expect(areNews == [false, false, true, true])
        #expect(tally.progress.totalBytes == 60 && tally.progress.completedBytes == 5)
        // The response has precedence over HEAD.
        let answer1 = tally.moved(0, received: 0, expected: 40)
        #expect(answer1)
        #expect(tally.progress.totalBytes == 90)
        // A response without a length keeps the length from HEAD until more bytes arrive.
        let answer2 = tally.moved(2, received: 30, expected: nil)
        #expect(answer2)
        #expect(tally.progress.totalBytes == 90)
        let answer3 = tally.moved(2, received: 31, expected: nil)
        #expect(answer3)
        #expect(tally.progress.totalBytes == nil)
        let answer4 = tally.ended(2, received: 35, .succeeded)
        #expect(!answer4)
        #expect(tally.progress.totalBytes == 95 && tally.progress.completedBytes == 40 && tally.progress.finished == 1)
    }

    @Test func `a member that ends early counts its received bytes, and later events do not count`() {
        var tally = BatchTally(count: 2, stopsAtFailure: false)
        _ = tally.measured(0, 100)
        _ = tally.measured(1, 100)
        let answer5 = tally.ended(0, received: 40, .failed)
        #expect(!answer5)
        #expect(tally.progress.totalBytes == 140 && tally.progress.failed == 1)
        let answer6 = tally.moved(0, received: 100, expected: 100)
        #expect(!answer6)
        let answer7 = tally.ended(0, received: 100, .succeeded)
        #expect(!answer7)
        let answer8 = tally.ended(1, received: 100, .succeeded)
        #expect(!answer8)
        #expect(tally.progress.isComplete && tally.progress.completedBytes == 140 && tally.progress.fraction == 1)
        #expect(tally.progress.failed == 1)
    }

    @Test func `the first failure stops the rest once, if chosen, and a cancellation does not`() {
        var tally = BatchTally(count: 4, stopsAtFailure: true)
        let answer9 = tally.ended(0, received: 0, .cancelled)
        #expect(!answer9)
        let answer10 = tally.ended(1, received: 0, .succeeded)
        #expect(!answer10)
        let answer11 = tally.ended(2, received: 0, .failed)
        #expect(answer11)
        let answer12 = tally.ended(3, received: 0, .failed)
        #expect(!answer12)
        #expect(tally.progress.finished == 4 && tally.progress.failed == 3)
    }

    @Test func `implausible lengths count as unknown, and no sum overflows`() {
        var tally = BatchTally(count: 2, stopsAtFailure: false)
        for index in 0..<2 {
            _ = tally.measured(index, .max)
            _ = tally.moved(index, received: .max, expected: .max)
        }
        #expect(tally.progress.totalBytes == nil && tally.progress.completedBytes > 0)
        _ = tally.moved(0, received: -1, expected: -1)
        _ = tally.measured(7, 1)
        let answer13 = tally.ended(-1, received: 0, .failed)
        #expect(!answer13)
        _ = tally.ended(0, received: 0, .failed)
        _ = tally.ended(1, received: 3, .failed)
        #expect(tally.progress.totalBytes == 3 && tally.progress.completedBytes == 3)
    }

    @Test(arguments: 0..<UInt64(50)) func `the tally equals the sum over all members`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let count = 1 + random.below(5)
        var tally = BatchTally(count: count, stopsAtFailure: false)
        var model = [(received: Int64, measured: Int64?, announced: Int64?, ended: Bool)](
            repeating: (0, nil, nil, false), count: count)
        for _ in 0..<200 {
            let index = random.below(count)
            let (number, isKnown) = (Int64(random.below(50)), random.below(3) > 0)
            switch random.below(20) {
            case 0..<6:
                _ = tally.measured(index, isKnown ? number : nil)
                if !model[index].ended { model[index].measured = isKnown ? number : nil }
            case 6..<19:
                let expected = isKnown ? number + Int64(random.below(10)) : nil
                _ = tally.moved(index, received: number, expected: expected)
                if !model[index].ended { (model[index].received, model[index].announced) = (number, expected) }
            default:
                _ = tally.ended(index, received: number, .succeeded)
                if !model[index].ended { (model[index].received, model[index].ended) = (number, true) }
            }
            let lengths = model.map { member -> Int64? in
                if member.ended { return member.received }
                if let announced = member.announced { return max(announced, member.received) }
                return member.measured.flatMap { $0 < member.received ? nil : $0 }
            }
            let sum = lengths.contains(nil) ? nil : lengths.compactMap { $0 }.reduce(0, +)
            #expect(tally.progress.totalBytes == sum)
            #expect(tally.progress.completedBytes == model.map(\.received).reduce(0, +))
            #expect(tally.progress.finished == model.filter(\.ended).count)
        }
    }
}
