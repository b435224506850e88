import NIOHTTP1

/// The target in the first line of a request, if async-http-client would send another one. It parses the address again, encodes
/// invalid escapes, replaces a path of escapes that are not UTF-8 by `/`, and sends no absolute address to a proxy.
///
/// The target passes async-http-client in a field that no caller can set, and ``ConnectionProbe`` removes the field.
enum RequestTarget {
    static let field = "request-target"

    static func add(_ target: String, to headers: inout HTTPHeaders) { headers.add(name: field, value: target) }

    static func move(to head: inout HTTPRequestHead) {
        guard let target = head.headers.first(name: field) else { return }
        head.headers.remove(name: field)
        head.uri = target
    }
}
