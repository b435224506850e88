package import HTTPTypes

/// The requests of a chain of redirects, and the decision about the next redirect.
package struct RedirectChain: Hashable, Sendable {
    package struct Step: Hashable, Sendable {
        package let method: HTTPRequest.Method
        package let address: HTTPAddress
    }

    /// The consequence of a response.
    package enum Decision: Hashable, Sendable {
        /// The response is not a redirect, or the policy does not follow redirects. The response is the result.
        case deliver
        case follow(Redirect)
        case fail(Failure)
    }

    package enum Failure: Hashable, Sendable {
        case tooMany(limit: Int)
        case loop
        /// The redirect leads to an address that is not HTTP, to several addresses, or from `https` to `http`.
        case refused(location: String)

        package var reason: HTTPError.Reason {
            switch self {
            case .tooMany(let limit): .tooManyRedirects(limit: limit)
            case .loop: .redirectLoop
            case .refused(let location): .redirectRefused(location: location)
            }
        }
    }

    package let policy: RedirectPolicy
    /// The first request and the requests of the redirects that were followed.
    package private(set) var steps: [Step]

    package init(_ method: HTTPRequest.Method, _ address: HTTPAddress, policy: RedirectPolicy) {
        self.policy = policy
        steps = [Step(method: method, address: address)]
    }

    package var current: Step { steps[steps.count - 1] }
    package var redirects: Int { steps.count - 1 }

    package func decision(for response: HTTPResponse) -> Decision {
        guard policy.follows, let change = change(by: response.status.code) else { return .deliver }
        let locations = response.headerFields[fields: .location]
        guard let location = locations.first else { return .deliver }
        let refusal = Decision.fail(.refused(location: HTTPAddress.redacted(location.value)))
        guard locations.allSatisfy({ $0 == location }) else { return refusal }
        let (from, resolved) = (
            current.address, location.withUnsafeBytesOfValue { current.address.resolving(bytes: $0) }
        )
        guard var address = resolved else { return refusal }
        // A server must not choose the credentials for another server.
        address =
            address.origin == from.origin ? address.withCredentials(of: from) : address.withoutCredentials
        if address.fragment == nil { address = address.withFragment(from.fragment) }
        return checked(
            Redirect(
                previous: from, previousMethod: current.method, method: change.method, address: address,
                dropsBody: change.dropsBody, credentialFields: policy.credentialFields))
    }

    /// Returns the decision about a redirect that a hook may have changed.
    package func checked(_ redirect: Redirect) -> Decision {
        if redirect.previous.origin.scheme == .https, redirect.address.origin.scheme == .http, !policy.allowsDowngrade {
            return .fail(.refused(location: redirect.address.description))
        }
        let target = redirect.address.withoutFragment.withoutCredentials
        let isKnown = steps.contains {
            $0.method == redirect.method && $0.address.withoutFragment.withoutCredentials == target
        }
        if isKnown { return .fail(.loop) }
        return redirects >= policy.limit ? .fail(.tooMany(limit: policy.limit)) : .follow(redirect)
    }

    package mutating func follow(_ redirect: Redirect) {
        steps.append(Step(method: redirect.method, address: redirect.address))
    }

    private func change(by status: Int) -> (method: HTTPRequest.Method, dropsBody: Bool)? {
        let method = current.method
        switch status {
        case 307, 308: return (method, false)
        case 301, 302, 303: if policy.methods == .kept { return (method, false) }
        default: return nil
        }
        if status == 303 { return (method == .head ? .head : .get, true) }
        return method == .post ? (.get, true) : (method, false)
    }
}
