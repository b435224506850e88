import DurableCore
import Foundation
import OperationsDurable

/// Returns the sum of two numbers.
struct Sum: DurableOperation {
    static let name = "sum"
    var a: Int
    var b: Int

    func run(_ context: DurableContext) async throws -> Int { a + b }
}

/// Writes a word to a journal.
struct Note: DurableOperation {
    static let name = "note"
    var journal: String
    var word: String

    func run(_ context: DurableContext) async throws { Journal.named(journal).append(word) }
}

struct TestFailure: Error, CustomStringConvertible {
    var description = "the test failure"
}

/// Fails in its first attempts, and then returns the number of the attempt.
struct Flaky: DurableOperation {
    static let name = "flaky"
    var journal: String
    var failures: Int
    var isFinal = false

    struct FinalFailure: Error {}

    static func permitsRetry(after error: any Error) -> Bool { !(error is FinalFailure) }

    func run(_ context: DurableContext) async throws -> Int {
        Journal.named(journal).append("attempt \(context.number) \(context.idempotencyKey)")
        if isFinal { throw FinalFailure() }
        if context.number <= failures { throw TestFailure() }
        return context.number
    }
}

/// Adds an operation with a named priority and a named rule for retries.
struct Adder: DurableOperation {
    static let name = "adder"
    var flaky: Flaky

    func run(_ context: DurableContext) async throws -> OperationID {
        let options = DurableOptions(priority: .low)
        return try await context.add(flaky, priority: .high, retry: .constant(.zero, retries: 1), options: options).id
    }
}

/// Runs until it is cancelled.
struct Endless: DurableOperation {
    static let name = "endless"
    var journal: String

    func run(_ context: DurableContext) async throws {
        let journal = Journal.named(journal)
        journal.append("start")
        do { try await Task.sleep(for: .seconds(3_600)) } catch {
            journal.append("cancelled")
            throw error
        }
    }
}

/// Snoozes once and discards itself, or one of the two.
struct Controlled: DurableOperation {
    static let name = "controlled"
    var journal: String

    func run(_ context: DurableContext) async throws {
        let journal = Journal.named(journal)
        journal.append("run")
        if journal.all.count == 1 { throw DurableControl.snooze(.seconds(10)) }
        throw DurableControl.discard("unneeded")
    }
}

/// Runs two steps with a failure between them, and then sleeps.
struct Steps: DurableOperation {
    static let name = "steps"
    var journal: String

    func run(_ context: DurableContext) async throws -> String {
        let journal = Journal.named(journal)
        let first = try await context.step("first") {
            journal.append("first")
            return 7
        }
        if context.number == 1 { throw TestFailure() }
        let second = try await context.step("second") {
            journal.append("second")
            return first * 2
        }
        try await context.sleep(for: .seconds(60))
        journal.append("awake")
        return "\(first) \(second)"
    }
}

/// Changes the name of its step between attempts.
struct Renamed: DurableOperation {
    static let name = "renamed"

    func run(_ context: DurableContext) async throws {
        _ = try await context.step(context.number == 1 ? "charge" : "refund") { 1 }
        throw TestFailure()
    }
}

/// Waits for a signal.
struct Approval: DurableOperation {
    static let name = "approval"
    var timeout: Int?

    func run(_ context: DurableContext) async throws -> Bool {
        try await context.wait(for: "approved", as: Bool.self, timeout: timeout.map { .seconds($0) })
    }
}

/// Adds a child, and an operation whose output it waits for.
struct Parent: DurableOperation {
    static let name = "parent"
    var journal: String

    func run(_ context: DurableContext) async throws -> Int {
        try await context.add(Note(journal: journal, word: "child"), isChild: true)
        let sum = try await context.add(Sum(a: 20, b: 22))
        let value = try await context.wait(for: sum)
        Journal.named(journal).append("parent")
        return value
    }
}
