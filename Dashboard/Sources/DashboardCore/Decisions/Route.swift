/// The meaning of a permitted request.
package enum Route: Sendable, Equatable {
    case page
    case script
    case style
    case icon
    case events
    case state
    case operations(source: String, OperationSearch)
    case operation(source: String, id: Int64)
    case timeline(source: String, seconds: Int)
    case graph(source: String)
    case steer(source: String, Command)

    /// Reads a request. A failure is the response.
    package static func of(_ request: HTTPRequest) -> Result<Route, HTTPStatus> {
        if request.method == "POST" {
            guard request.path == "/api/steer" else { return .failure(.methodNotAllowed) }
            let form = Form(String(decoding: request.body, as: UTF8.self))
            guard let source = form["source"], let command = Command(form) else { return .failure(.badRequest) }
            return .success(.steer(source: source, command))
        }
        let form = Form(request.query)
        let source = form["source"] ?? ""
        switch request.path {
        case "/": return .success(.page)
        case "/dashboard.js": return .success(.script)
        case "/dashboard.css": return .success(.style)
        case "/dashboard.svg": return .success(.icon)
        case "/api/events": return .success(.events)
        case "/api/state": return .success(.state)
        case "/api/operations": return .success(.operations(source: source, OperationSearch(form)))
        case "/api/operation":
            guard let id = form["id"].flatMap({ Int64($0) }) else { return .failure(.badRequest) }
            return .success(.operation(source: source, id: id))
        case "/api/timeline":
            let seconds = form["seconds"].flatMap { Int($0) } ?? 60
            return .success(.timeline(source: source, seconds: min(max(seconds, 1), 86_400)))
        case "/api/graph": return .success(.graph(source: source))
        case "/api/steer": return .failure(.methodNotAllowed)
        default: return .failure(.notFound)
        }
    }
}

/// A request for a page of a list.
package struct OperationSearch: Sendable, Equatable {
    package static let rowLimit = 100

    /// The state of the rows; empty for all.
    package var state: String
    /// A part of the name; empty for all.
    package var text: String
    /// The queue of the rows in a store; empty for all.
    package var queue: String
    /// The cursor that the page before returned; 0 for the first page.
    package var cursor: Int

    package init(state: String = "", text: String = "", queue: String = "", cursor: Int = 0) {
        (self.state, self.text, self.queue, self.cursor) = (state, text, queue, cursor)
    }

    init(_ form: Form) {
        self.init(
            state: form["state"] ?? "", text: ShortText.cut(form["text"] ?? ""), queue: form["queue"] ?? "",
            cursor: max(0, form["cursor"].flatMap { Int($0) } ?? 0))
    }

    /// Whether a name has the text. The case does not matter. Only the first 1,000 bytes of a name are searched.
    package func matches(_ name: String) -> Bool {
        text.isEmpty || Self.folded(name).contains(Self.folded(text))
    }

    private static func folded(_ text: String) -> String {
        String(decoding: text.utf8.prefix(1000), as: UTF8.self).lowercased()
    }
}

/// A change that a person requests.
package enum Command: Sendable, Equatable {
    case suspend(queue: String)
    case resume(queue: String)
    /// nil removes the limit.
    case limit(queue: String, Int?)
    case cancel([Int64])
    case priority([Int64], Int)
    case retry([Int64])
    case discard([Int64])
    case move([Int64], queue: String)

    /// The largest number of operations of one command.
    package static let selectionLimit = 200

    init?(_ form: Form) {
        let queue = form["queue"] ?? ""
        let ids = (form["ids"] ?? "").split(separator: ",").map { Int64($0) }
        let selection = ids.compactMap { $0 }
        let isSelection = !ids.isEmpty && selection.count == ids.count && ids.count <= Self.selectionLimit
        switch form["action"] {
        case "suspend": self = .suspend(queue: queue)
        case "resume": self = .resume(queue: queue)
        case "limit":
            guard let text = form["value"] else { return nil }
            if text.isEmpty {
                self = .limit(queue: queue, nil)
            } else {
                guard let value = Int(text), (-1...1_000_000).contains(value) else { return nil }
                self = .limit(queue: queue, value)
            }
        case "cancel" where isSelection: self = .cancel(selection)
        case "priority" where isSelection:
            guard let value = form["value"].flatMap({ Int($0) }), (-2...2).contains(value) else { return nil }
            self = .priority(selection, value)
        case "retry" where isSelection: self = .retry(selection)
        case "discard" where isSelection: self = .discard(selection)
        case "move" where isSelection:
            guard let target = form["value"], !target.isEmpty else { return nil }
            self = .move(selection, queue: target)
        default: return nil
        }
    }
}
