import DurableCore
import DurableTesting
import OperationsDurable
import Testing

/// Rules R5, and R22 to R25.
@Suite struct SeeingTests {
    @Test(arguments: StoreKind.allCases)
    func `R36: records have the input, queue, key and times of operations, page by page, and ended ones are deleted`(
        _ kind: StoreKind
    ) async throws {
        try await withStore(kind) { test in
            let (store, queue) = (test.store, DurableQueue("q", in: test.store))
            let start = try await store.snapshot().instant
            let options = DurableOptions(
                priority: .high, dependencyFailurePolicy: .cancel, delay: .seconds(5), unique: "u",
                uniquePeriod: .seconds(900), limitKey: "k", deadline: .seconds(60))
            let first = try await queue.add(Sum(a: 1, b: 2), options: options)
            let others = try await queue.add(contentsOf: (0..<7).map { Sum(a: $0, b: 0) })
            let record = try await store.record(of: first.id)
            #expect(record.name == "sum" && record.queue == "q" && record.priority == .high && record.limitKey == "k")
            #expect(record.state == .scheduled && record.readyAt == nil && record.endedAt == nil)
            #expect(record.input == Array(#"{"a":1,"b":2}"#.utf8) || record.input == Array(#"{"b":2,"a":1}"#.utf8))
            // The clock of a server moves.
            #expect(record.addedAt >= start && record.wakeAt == record.addedAt + .seconds(5))
            #expect(record.deadline == record.addedAt + .seconds(60))
            var (filter, pages) = (DurableFilter(queue: "q", limit: 3), [[OperationID]]())
            while true {
                let page = try await store.records(matching: filter).map(\.id)
                if page.isEmpty { break }
                pages.append(page)
                filter.after = page.last
            }
            let ids = [first.id] + others.map(\.id)
            #expect(pages == [Array(ids[0..<3]), Array(ids[3..<6]), Array(ids[6...])])
            try await store.cancel([first.id, others[0].id])
            #expect(try await store.delete(matching: DurableFilter(queue: "q")) == [first.id, others[0].id])
            #expect(try await queue.counts() == [.ready: 6])
            await #expect(throws: DurableError.unknownOperation(first.id)) { try await store.record(of: first.id) }
            // The key of a deleted operation is free.
            #expect(try await queue.add(Sum(a: 1, b: 2), options: options).id > others[6].id)
            try await store.schedule("nightly", CronSchedule("0 4 * * *"), Sum(a: 0, b: 0), in: queue)
            let schedule = try await store.schedules()[0]
            #expect(schedule.id == "nightly" && schedule.cron == "0 4 * * *" && schedule.operation == "sum")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R23: explain names each reason for which an operation does not run`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let store = test.store
            let queue = DurableQueue("q", in: store)
            let sum = try await queue.add(Sum(a: 1, b: 1))
            let next = try await queue.add(Sum(a: 2, b: 2), after: [sum])
            #expect(try await store.explain(sum.id).reasons == [.noWorkerServes(queue: "q")])
            #expect(try await store.explain(next.id).reasons == [.waitsFor(sum.id, name: "sum", state: .ready)])
            try await queue.suspend()
            try await queue.setLimit(0)
            let worker = try await store.commit { machine in
                try machine.register("host", kinds: ["note", "approval"], queues: ["q"], lease: .seconds(90))
            }
            let reasons = try await store.explain(sum.id).reasons
            #expect(
                reasons == [
                    .queueSuspended("q"), .limitOfQueue("q", limit: 0), .noWorkerRegisters("sum"),
                ])
            try await queue.resume()
            try await queue.setLimit(nil)
            var options = DurableOptions()
            options.isBarrier = true
            let barrier = try await queue.add(Note(journal: "", word: ""), options: options)
            #expect(try await store.explain(barrier.id).reasons == [.barrier(queue: "q", unfinished: 2)])
            options.isBarrier = false
            options.delay = .seconds(60)
            let late = try await DurableQueue("r", in: store).add(Sum(a: 1, b: 1), options: options)
            let start = try await store.snapshot().instant + .seconds(60)
            #expect(try await store.explain(late.id).reasons == [.startsAt(start)])
            #expect(
                try await store.explain(late.id).description.hasPrefix("operation \(late.id) 'sum': starts at 2027-"))
            try await sum.cancel()
            #expect(try await store.explain(sum.id).reasons == [.ended(.cancelled, reason: "")])
            await #expect(throws: DurableError.unknownOperation(OperationID(999))) {
                try await store.explain(OperationID(999))
            }
            _ = worker
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R23: explain names the limit of a key and a wait for a signal`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            try await queue.setLimitPerKey(1)
            var options = DurableOptions()
            options.limitKey = "host"
            let first = try await queue.add(Approval(), options: options)
            let second = try await queue.add(Approval(), options: options)
            let reasons = try await test.store.explain(second.id).reasons
            #expect(reasons.first == .limitOfKey("host", limit: 1))
            try await withWorker(test.store, [Approval.self]) {
                try await first.reaches(.awaitingSignal)
                try await second.reaches(.awaitingSignal)
            }
            #expect(try await test.store.explain(first.id).reasons == [.awaitsSignal("approved", until: nil)])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R24: a snapshot has the counts of all queues and the workers`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let queue = DurableQueue("q", in: test.store)
            for number in 0..<3 { try await queue.add(Sum(a: number, b: 0)) }
            try await queue.add(Note(journal: "", word: ""))
            try await queue.suspend()
            _ = try await test.store.commit { machine in
                try machine.register("host", kinds: ["sum"], queues: ["q"], lease: .seconds(90))
            }
            let snapshot = try await test.store.snapshot()
            #expect(snapshot.queues.map(\.name) == ["q"])
            #expect(snapshot.queues[0].counts == ["sum": [.ready: 3], "note": [.ready: 1]])
            #expect(snapshot.queues[0].isSuspended)
            #expect(snapshot.workers.map(\.name) == ["host"])
            #expect(snapshot.workers[0].operations == ["sum"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R25: a caller cancels, retries, discards, moves and re-prioritizes operations`(_ kind: StoreKind) async throws
    {
        try await withStore(kind) { test in
            let store = test.store
            let (queue, other) = (DurableQueue("q", in: store), DurableQueue("r", in: store))
            let name = "R25 \(kind)"
            let notes = try await [
                queue.add(Note(journal: name, word: "a")), queue.add(Note(journal: name, word: "b")),
                queue.add(Note(journal: name, word: "c")), queue.add(Note(journal: name, word: "d")),
            ]
            let sum = try await queue.add(Sum(a: 1, b: 1))
            let cancelled = try await store.cancel(matching: DurableFilter(queue: "q", name: "note"))
            #expect(cancelled == notes.map(\.id))
            #expect(try await sum.state == .ready)
            let retried = try await store.retry(matching: DurableFilter(name: "note"))
            #expect(retried == notes.map(\.id))
            try await store.discard([notes[0].id], reason: "unneeded")
            try await store.setPriority(.veryHigh, of: [notes[3].id])
            try await store.move([notes[1].id], to: "r")
            try await withWorker(store, queues: ["q": .limit(1)], [Note.self]) { try await notes[2].value }
            #expect(Journal.named(name).all == ["d", "c"])
            #expect(try await other.counts() == [.ready: 1])
            await #expect(throws: DurableError.operationEnded(notes[0].id, .discarded)) {
                try await store.discard([notes[0].id], reason: "again")
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R5: a schedule adds one operation each time, once for all machines`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let (store, queue) = (test.store, DurableQueue("q", in: test.store))
            // The clock of the test begins at 08:00:00 UTC.
            let hourly = try CronSchedule("0 * * * *")
            try await store.schedule("once", hourly, Sum(a: 1, b: 0), in: queue)
            try await store.schedule("all", hourly, Note(journal: "", word: ""), in: queue, missed: .all)
            try await store.schedule("skip", hourly, Approval(), in: queue, missed: .skip)
            test.advance(.seconds(3_599))
            #expect(try await store.commit { try $0.runSchedules() } == 0)
            test.advance(.seconds(1))
            #expect(try await store.commit { try $0.runSchedules() } == 3)
            #expect(try await store.commit { try $0.runSchedules() } == 0)
            test.advance(.seconds(3 * 3_600 + 120))
            #expect(try await store.commit { try $0.runSchedules() } == 4)
            let counts = try await store.snapshot().queues[0].counts
            #expect(counts == ["sum": [.ready: 2], "note": [.ready: 4], "approval": [.ready: 1]])
            try await store.removeSchedule("all")
            test.advance(.seconds(3_600 - 120))
            #expect(try await store.commit { try $0.runSchedules() } == 2)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R5: a schedule of each minute that was missed for centuries continues at once`(_ kind: StoreKind) async throws
    {
        try await withStore(kind) { test in
            let (store, queue) = (test.store, DurableQueue("q", in: test.store))
            let minutely = try CronSchedule("* * * * *")
            try await store.schedule("once", minutely, Sum(a: 1, b: 0), in: queue)
            try await store.schedule("all", minutely, Note(journal: "", word: ""), in: queue, missed: .all)
            try await store.schedule("skip", minutely, Approval(), in: queue, missed: .skip)
            // A walk along 210 million minutes would take the time limit of the suite.
            test.advance(.seconds(400 * 31_556_952))
            let missed = try await store.commit { try $0.runSchedules() }
            #expect(missed == 2 + store.limits.missedTimes)
            test.advance(.seconds(60))
            try await store.removeSchedule("all")
            #expect(try await store.commit { try $0.runSchedules() } == 2)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R5: a schedule whose operation the store refuses holds back no other schedule`(_ kind: StoreKind) async throws
    {
        try await withStore(kind) { test in
            let (store, queue) = (test.store, DurableQueue("q", in: test.store))
            let hourly = try CronSchedule("0 * * * *")
            await #expect(throws: DurableError.self) {
                let options = DurableOptions(timeout: .nanoseconds(500))
                try await store.schedule("short", hourly, Sum(a: 1, b: 0), in: queue, options: options)
            }
            try await store.schedule("good", hourly, Sum(a: 1, b: 0), in: queue)
            // Stored by a process with a larger limit.
            let input = [UInt8](repeating: 32, count: store.limits.payloadBytes + 1)
            try await store.commit { machine in
                var limits = machine.limits
                limits.payloadBytes *= 2
                var other = DurableMachine(rows: machine.rows, limits: limits)
                let large = NewOperation(name: "sum", queue: "q", input: input)
                try other.setSchedule("bad", cron: hourly, missed: .once, operation: large)
                machine.rows = other.rows
            }
            for count in 1...2 {
                test.advance(.seconds(3_600))
                let refused = try await store.commit { machine in
                    var refused: [String] = []
                    let added = try machine.runSchedules { name, _ in refused.append(name) }
                    #expect(added == 1)
                    return refused
                }
                #expect(refused == ["bad"])
                #expect(try await queue.counts() == [.ready: count])
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R5: a worker runs the operations of a schedule`(_ kind: StoreKind) async throws {
        try await withStore(kind) { test in
            let name = "R5 \(kind)"
            let queue = DurableQueue("q", in: test.store)
            try await test.store.schedule(
                "hourly", CronSchedule("0 * * * *"), Note(journal: name, word: "run"), in: queue)
            try await withWorker(test.store, [Note.self]) {
                test.advance(.seconds(3_600))
                try await poll("the operation ran") { Journal.named(name).count("run") == 1 }
            }
        }
    }
}
