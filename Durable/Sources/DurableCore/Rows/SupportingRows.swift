/// The stored state of a queue.
public struct QueueRow: Sendable, Hashable {
    public let id: QueueID
    public let name: String
    public var isSuspended = false
    /// The largest number of running operations on all machines. Nil for no limit.
    public var limit: Int64?
    /// The limit of each key without a limit of its own.
    public var limitPerKey: Int64?
    public var rate: RateRule?
    /// The instant at which the allowance of the rate is full again.
    public var rateFilledAt: DurableInstant?
    /// The rate of each key without a rate of its own.
    public var ratePerKey: RateRule?
    /// The epoch whose operations may start. A barrier ends an epoch.
    public var currentEpoch: Int64 = 0
    /// The epoch of new operations.
    public var lastEpoch: Int64 = 0

    package init(id: QueueID, name: String) { (self.id, self.name) = (id, name) }

    /// Whether only a barrier has the epoch. The epochs of other operations have even numbers.
    package static func isBarrierEpoch(_ epoch: Int64) -> Bool { epoch % 2 == 1 }

    /// Returns a new epoch for a barrier behind all operations of the queue. Later operations are in the next epoch.
    package mutating func openBarrier() -> Int64 {
        lastEpoch += 2
        return lastEpoch - 1
    }
}

/// The name of a limit per key: a queue and a key.
public struct KeyName: Hashable, Sendable {
    public var queue: QueueID
    public var key: String

    package init(queue: QueueID, key: String) { (self.queue, self.key) = (queue, key) }

    /// Returns whether the queues are equal, and the keys have the same UTF-8 bytes.
    public static func == (a: Self, b: Self) -> Bool { a.queue == b.queue && ExactName(a.key) == ExactName(b.key) }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(queue)
        hasher.combine(ExactName(key))
    }
}

extension KeyName: Comparable {
    /// Returns whether the first name precedes the second name in the order of queues, and then of the bytes of keys.
    public static func < (a: Self, b: Self) -> Bool { (a.queue, ExactName(a.key)) < (b.queue, ExactName(b.key)) }
}

/// The stored state of a key of a queue.
public struct KeyRow: Sendable, Hashable {
    public let name: KeyName
    /// The limit of this key in place of the queue's limit per key.
    public var limit: Int64?
    /// The rate of this key in place of the queue's rate per key.
    public var rate: RateRule?
    /// The instant at which the allowance of the rate is full again. Nil for a full allowance.
    public var rateFilledAt: DurableInstant?
    /// The instant at which the rate admits a blocked operation, or at which an unused row can be removed.
    public var wakeAt: DurableInstant?
    public var running: Int64 = 0
    public var ready: Int64 = 0
    public var blocked: Int64 = 0

    package init(name: KeyName) { self.name = name }

    /// Whether the row has no information.
    package var isEmpty: Bool { limit == nil && rate == nil && rateFilledAt == nil && isUnused }

    /// Whether no operation of the key is ready, blocked or running.
    package var isUnused: Bool { running == 0 && ready == 0 && blocked == 0 }

    package mutating func count(_ state: DurableState, by change: Int64) {
        switch state {
        case .running: running += change
        case .ready: ready += change
        case .blocked: blocked += change
        case .waiting, .scheduled, .awaitingSignal, .finishing, .succeeded, .failed, .cancelled, .discarded, .crashed:
            break
        }
    }
}

/// The stored registration of a worker.
public struct WorkerRow: Sendable, Hashable {
    public let id: WorkerID
    public var name: String
    public var leaseEnd: DurableInstant
    public var kinds: [String]
    public var queues: [String]
    /// The text that identifies the process of the worker; nil for a worker of an earlier version.
    public var process: String?
    /// The operation that the worker will run alone. The worker claims nothing else until then.
    public var isolates: OperationID?

    package init(
        id: WorkerID, name: String, leaseEnd: DurableInstant, kinds: [String], queues: [String], process: String? = nil,
        isolates: OperationID? = nil
    ) {
        (self.id, self.name, self.leaseEnd, self.kinds, self.queues) = (id, name, leaseEnd, kinds, queues)
        (self.process, self.isolates) = (process, isolates)
    }

    /// The beginning of the stored process of a worker, of which another worker has vanished.
    private static let doubt = "vanished "

    /// The process; nil if the process is unknown, or if another worker of it has vanished.
    package var certainProcess: String? { process.flatMap { $0.hasPrefix(Self.doubt) ? nil : $0 } }

    /// Notes whether another worker of the process has vanished.
    package mutating func setDoubt(_ isDoubtful: Bool) {
        guard let process, (certainProcess == nil) != isDoubtful else { return }
        self.process = isDoubtful ? Self.doubt + process : String(process.dropFirst(Self.doubt.count))
    }

    /// Returns the names of a stored list. Line ends separate the names, and no name contains a line end.
    package static func names(_ list: String) -> [String] {
        // By bytes: a carriage return and a line end are one character.
        list.utf8.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// One dependency between two operations. The store removes the edge when the dependency ends.
public struct Edge: Sendable, Hashable {
    /// The operation that ends first.
    public var dependency: OperationID
    public var dependent: OperationID
    /// Whether a running operation waits for the dependency. Such a wait ignores the failure policy.
    public var isAwait: Bool

    package init(dependency: OperationID, dependent: OperationID, isAwait: Bool = false) {
        (self.dependency, self.dependent, self.isAwait) = (dependency, dependent, isAwait)
    }
}

/// The holder of a unique key.
public struct UniqueRow: Sendable, Hashable {
    public var kind: KindID
    public var key: String
    public var operation: OperationID
    /// The end of the period for which the key holds also after the end of the operation.
    public var heldUntil: DurableInstant?

    package init(kind: KindID, key: String, operation: OperationID, heldUntil: DurableInstant?) {
        (self.kind, self.key, self.operation, self.heldUntil) = (kind, key, operation, heldUntil)
    }

    package var name: UniqueName { UniqueName(kind: kind, key: ExactName(key)) }
}

/// The name of a unique key: the name of an operation and a key.
package struct UniqueName: Hashable, Sendable {
    package var kind: KindID
    package var key: ExactName

    package init(kind: KindID, key: ExactName) { (self.kind, self.key) = (kind, key) }
}

/// One entry of the history of an operation: a step, a sleep, a wait or an addition.
public struct HistoryEntry: Sendable, Hashable {
    /// The kinds of entries.
    public enum Kind: Int64, Sendable, Hashable {
        case step = 0
        case sleep = 1
        case signal = 2
        case add = 3
        case operations = 4
        /// A step whose error the operation caught. The result is the text of the error.
        case failedStep = 5
        /// An addition whose error the operation caught. The result is the text of the error.
        case failedAdd = 6
        /// A wait for operations whose error the operation caught. The result is the text of the error.
        case failedOperations = 7

        /// The kind of the call to which an entry of this kind belongs.
        package var call: Kind {
            switch self {
            case .failedStep: .step
            case .failedAdd: .add
            case .failedOperations: .operations
            case .step, .sleep, .signal, .add, .operations: self
            }
        }
    }

    public var operation: OperationID
    public var position: Int64
    public var kind: Kind
    public var name: String
    /// The result; nil for a wait that reached its timeout.
    public var result: [UInt8]?

    package init(operation: OperationID, position: Int64, kind: Kind, name: String, result: [UInt8]?) {
        (self.operation, self.position, self.kind, self.name) = (operation, position, kind, name)
        self.result = result
    }

    /// The description in messages.
    package var label: String { "\(kind.call) '\(name)'" }

    /// Whether the stored entry answers a call of the kind and the name.
    package func answers(_ kind: Kind, _ name: String) -> Bool {
        ExactName(self.name) == ExactName(name) && (self.kind == kind || self.kind.call == kind)
    }

    /// The name of the entry of a wait for one operation.
    package static func nameOfWait(for operation: OperationID) -> String { "operation \(operation)" }
}

/// A signal that no wait has consumed.
public struct SignalRow: Sendable, Hashable {
    public var operation: OperationID
    public var name: String
    /// The order of the signals of one name.
    public var number: Int64
    public var payload: [UInt8]

    package init(operation: OperationID, name: String, number: Int64, payload: [UInt8]) {
        (self.operation, self.name, self.number, self.payload) = (operation, name, number, payload)
    }
}
