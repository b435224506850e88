/// The rule by which a request is answered at all.
package struct Access: Sendable {
    /// The secret that the printed address has.
    package let token: String
    /// The name of the cookie. Cookies of one host are shared by all its ports, so the name has the port.
    package let cookie: String

    package init(token: String, port: Int) { (self.token, cookie) = (token, "operations-dashboard-\(port)") }

    package enum Decision: Sendable, Equatable {
        /// - Parameter setsCookie: Whether the address had the token, so that the response sets the cookie.
        case permit(setsCookie: Bool)
        case refuse(HTTPStatus, String)
    }

    /// Decides about a request.
    ///
    /// The host must be this machine by a name that no other server can have. Otherwise a page of a foreign name that resolves to
    /// 127.0.0.1 could read the responses.
    package func decide(_ request: HTTPRequest) -> Decision {
        guard request.method == "GET" || request.method == "POST" else {
            return .refuse(.methodNotAllowed, "Only GET and POST are known.")
        }
        guard let host = request.fields["host"], Self.isLoopback(host) else {
            return .refuse(.misdirected, "Open the dashboard as 127.0.0.1 or localhost.")
        }
        if let origin = request.fields["origin"], origin != "http://\(host)" {
            return .refuse(.forbidden, "Another page sent this request.")
        }
        if request.method == "POST" {
            guard request.fields["origin"] != nil || request.fields["authorization"] != nil,
                request.fields["content-type"] == "application/x-www-form-urlencoded"
            else { return .refuse(.forbidden, "A change needs the origin of the page.") }
        }
        if let given = request.fields["authorization"], isToken(given.dropPrefix("Bearer ")) {
            return .permit(setsCookie: false)
        }
        if request.method == "GET", request.path == "/", isToken(Form(request.query)["token"] ?? "") {
            return .permit(setsCookie: true)
        }
        guard let given = cookieValue(request.fields["cookie"]), isToken(given) else {
            return .refuse(.forbidden, "Open the address that the program printed. It has a token.")
        }
        return .permit(setsCookie: false)
    }

    /// The field that keeps the token in the browser: not readable by scripts, and not sent by requests of other sites.
    package var cookieField: (name: String, value: String) {
        ("Set-Cookie", "\(cookie)=\(token); HttpOnly; SameSite=Strict; Path=/")
    }

    static func isLoopback(_ host: String) -> Bool {
        let parts = host.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 1 || UInt16(parts[1]) != nil else { return false }
        return ["127.0.0.1", "localhost"].contains(parts[0].lowercased())
    }

    private func cookieValue(_ field: String?) -> String? {
        for pair in (field ?? "").split(separator: ";") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            if parts.count == 2, parts[0].drop(while: { $0 == " " }) == cookie { return String(parts[1]) }
        }
        return nil
    }

    /// Compares in a time that does not depend on the place of the first difference.
    private func isToken(_ given: String) -> Bool {
        let (own, given) = (Array(token.utf8), Array(given.utf8))
        guard !own.isEmpty, own.count == given.count else { return false }
        return zip(own, given).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

extension String {
    fileprivate func dropPrefix(_ prefix: String) -> String {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : ""
    }
}
