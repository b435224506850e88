/// The ends of the outputs of commands that have ended, in bounded memory. The oldest are dropped first.
public struct RecentOutputs: Sendable {
    /// The number of bytes of one output that are kept.
    public static let byteCount = 16 * 1024

    private let limit: Int
    /// The number of bytes of all outputs.
    private let total: Int
    private var outputs: [String: (text: String, number: Int)] = [:]
    private var order: [(name: String, number: Int)] = []
    private var first = 0
    private var number = 0
    private var size = 0

    /// Creates an empty collection.
    public init(limit: Int = byteCount, total: Int = 16 * 1024 * 1024) { (self.limit, self.total) = (limit, total) }

    /// Keeps the end of an output in place of an earlier one.
    public mutating func add(_ bytes: some Collection<UInt8>, of name: String) {
        let text = String(decoding: bytes.suffix(limit), as: UTF8.self)
        number += 1
        size += text.utf8.count - (outputs[name]?.text.utf8.count ?? 0)
        outputs[name] = (text, number)
        order.append((name, number))
        while size > total, first < order.count {
            let oldest = order[first]
            first += 1
            guard let kept = outputs[oldest.name], kept.number == oldest.number else { continue }
            outputs[oldest.name] = nil
            size -= kept.text.utf8.count
        }
        if first > 1000, first > order.count / 2 {
            order.removeFirst(first)
            first = 0
        }
    }

    /// The end of an output. `nil` if it was empty, or is not kept any more.
    public func text(of name: String) -> String? { outputs[name].flatMap { $0.text.isEmpty ? nil : $0.text } }
}
