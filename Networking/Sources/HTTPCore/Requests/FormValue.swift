/// The content of a query or a form: names with values. A value can be a list or contain names with values again. Write
/// a form as a literal: `["q": "swift", "page": 2, "tags": ["a", "b"], "in": ["title": true]]`.
///
/// Names keep the order of the literal. The names of a `Dictionary`, which has no order, are sorted. Equal forms
/// therefore have equal texts.
public indirect enum FormValue: Hashable, Sendable {
    /// A text.
    case text(String)
    /// A list of values.
    case list([FormValue])
    /// Names with values.
    case fields([Field])

    /// A name with its value.
    public struct Field: Hashable, Sendable {
        /// The name of the field, before encoding.
        public var name: String
        /// The value of the field.
        public var value: FormValue

        /// Creates a field.
        public init(_ name: String, _ value: FormValue) {
            self.name = name
            self.value = value
        }
    }

    /// Creates a form with the fields of the dictionary, sorted by name.
    public init(_ dictionary: [String: String]) {
        self = .fields(dictionary.sorted { $0.key < $1.key }.map { Field($0.key, .text($0.value)) })
    }

    /// Creates a form with the fields of the dictionary, sorted by name.
    public init(_ dictionary: [String: FormValue]) {
        self = .fields(dictionary.sorted { $0.key < $1.key }.map { Field($0.key, $0.value) })
    }

    /// The text for URLs and for the type `application/x-www-form-urlencoded`. A nested field is `in[title]=1`, and an
    /// element of a list is `tags[]=a`, with encoded brackets. A space is `%20`, true is 1 and false is 0. An empty
    /// list adds nothing.
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
    /// Creates a text.
    public init(stringLiteral text: String) { self = .text(text) }
    /// Creates the decimal text of a number.
    public init(integerLiteral number: Int) { self = .text("\(number)") }
    /// Creates the decimal text of a number.
    public init(floatLiteral number: Double) { self = .text("\(number)") }
    /// Creates the text `1` for true and `0` for false.
    public init(booleanLiteral flag: Bool) { self = .text(flag ? "1" : "0") }
    /// Creates a list of values.
    public init(arrayLiteral values: FormValue...) { self = .list(values) }
    /// Creates names with values, in the order of the literal.
    public init(dictionaryLiteral fields: (String, FormValue)...) { self = .fields(fields.map { Field($0, $1) }) }
}
