/// A filter that replaces the values of secrets in a stream of bytes.
///
/// A secret may be cut by the border of two chunks. So the filter holds bytes back as long as they may be the beginning of a
/// secret.
struct SecretFilter: Sendable {
    /// The text in place of a secret.
    static let mask = "•••"

    /// The values, the longest one first, so that a secret in another one hides no part of it.
    private let secrets: [[UInt8]]
    private var held: [UInt8] = []

    /// Creates a filter. `nil` if all values are empty.
    ///
    /// - Parameter other: A filter whose values the new one has too.
    init?(_ values: some Sequence<String>, and other: SecretFilter? = nil) {
        let secrets = Set(values.map(\.fileNameBytes).filter { !$0.isEmpty } + (other?.secrets ?? []))
        guard !secrets.isEmpty else { return nil }
        self.secrets = secrets.sorted { ($1.count, $0.first ?? 0) < ($0.count, $1.first ?? 0) }
    }

    /// Returns the bytes that follow those returned before. O(bytes · secrets).
    mutating func pass(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        held += bytes
        return take(isAtEnd: false)
    }

    /// Returns the last bytes of the stream.
    mutating func finish() -> [UInt8] { take(isAtEnd: true) }

    /// Returns a text with masks.
    func masked(_ text: String) -> String {
        var filter = self
        let bytes = Array(text.utf8)
        let result = filter.pass(bytes) + filter.finish()
        return result == bytes ? text : String(decoding: result, as: UTF8.self)
    }

    private mutating func take(isAtEnd: Bool) -> [UInt8] {
        var passed: [UInt8] = []
        passed.reserveCapacity(held.count)
        var index = 0
        scan: while index < held.count {
            let rest = held[index...]
            for secret in secrets where rest.first == secret.first {
                if rest.starts(with: secret) {
                    passed += Self.mask.utf8
                    index += secret.count
                    continue scan
                }
                // The longer secret may follow, so a shorter one at the same place has to wait.
                if !isAtEnd, rest.count < secret.count, secret.starts(with: rest) { break scan }
            }
            passed.append(held[index])
            index += 1
        }
        held.removeFirst(index)
        return passed
    }
}

/// The values of the secrets of a workflow.
public struct Secrets: Sendable {
    let filter: SecretFilter?

    /// No secrets.
    public static let none = Secrets(filter: nil)

    private init(filter: SecretFilter?) { self.filter = filter }

    /// Finds the values: those that the workflow sets for an operation, and those of this process.
    ///
    /// - Parameter variable: Returns the value of an environment variable of this process.
    public init(of plan: WorkflowPlan, variable: (String) -> String?) {
        let names = plan.settings.secrets
        guard !names.isEmpty else {
            filter = nil
            return
        }
        var values = Set(names.compactMap(variable))
        for operation in plan.operations {
            for name in names { if let value = operation.environment[name] { values.insert(value) } }
        }
        filter = SecretFilter(values)
    }

    /// Returns a text with a mask in place of each secret.
    public func masked(_ text: String) -> String { filter?.masked(text) ?? text }
}
