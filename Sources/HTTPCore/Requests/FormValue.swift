#if Networking
/// What a query or a form says: names with values, which may be lists and again names with values (rule R11). Written as
/// a literal: `["q": "swift", "page": 2, "tags": ["a", "b"], "in": ["title": true]]`.
///
/// Names stay in the order they are written in; from a `Dictionary`, which has none, they are sorted. So equal forms are
/// equal texts.
public indirect enum FormValue: Hashable, Sendable {
    case text(String)
    case list([FormValue])
    case fields([Field])

    public struct Field: Hashable, Sendable {
        public var name: String
        public var value: FormValue

        public init(_ name: String, _ value: FormValue) {
            self.name = name
            self.value = value
        }
    }

    /// Sorted by name.
    public init(_ dictionary: [String: String]) {
        self = .fields(dictionary.sorted { $0.key < $1.key }.map { Field($0.key, .text($0.value)) })
    }

    public init(_ dictionary: [String: FormValue]) {
        self = .fields(dictionary.sorted { $0.key < $1.key }.map { Field($0.key, $0.value) })
    }

    /// As URLs and the type `application/x-www-form-urlencoded` have it: `in[title]=1` for what is nested and `tags[]=a`
    /// for lists, with the brackets encoded, and `%20` for a space. True is 1, false is 0. An empty list says nothing.
    public var encoded: String {
        var pairs: [String] = []
        collect(named: "", into: &pairs)
        return pairs.joined(separator: "&")
    }

    private func collect(named name: String, into pairs: inout [String]) {
        switch self {
        case .text(let text):
            pairs.append(name.isEmpty ? Self.encode(text) : "\(Self.encode(name))=\(Self.encode(text))")
        case .list(let values): for value in values { value.collect(named: "\(name)[]", into: &pairs) }
        case .fields(let fields):
            for field in fields {
                field.value.collect(named: name.isEmpty ? field.name : "\(name)[\(field.name)]", into: &pairs)
            }
        }
    }

    private static func encode(_ text: String) -> String { PercentEncoding.encode(text.utf8) { $0.isUnreserved } }
}

extension FormValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(stringLiteral text: String) { self = .text(text) }
    public init(integerLiteral number: Int) { self = .text("\(number)") }
    public init(floatLiteral number: Double) { self = .text("\(number)") }
    public init(booleanLiteral flag: Bool) { self = .text(flag ? "1" : "0") }
    public init(arrayLiteral values: FormValue...) { self = .list(values) }
    public init(dictionaryLiteral fields: (String, FormValue)...) { self = .fields(fields.map { Field($0, $1) }) }
}
#endif
