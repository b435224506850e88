#if Networking
package import HTTPTypes

/// Where a request has been, and where it goes from here (rule R7). A plain value.
package struct RedirectChain: Hashable, Sendable {
    package struct Step: Hashable, Sendable {
        package let method: HTTPRequest.Method
        package let address: HTTPAddress
    }

    package enum Decision: Hashable, Sendable {
        /// The response is no redirect, or not to be followed: it is the response.
        case deliver
        case follow(Redirect)
        case fail(Failure)
    }

    package enum Failure: Hashable, Sendable {
        case tooMany(limit: Int)
        case loop
        /// It leads to something that is not HTTP, to several places, or from `https` to `http`.
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
    /// The request itself, then what it was redirected to.
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
        // A server does not choose as whom one logs in elsewhere.
        address =
            address.origin == from.origin ? address.withCredentials(of: from) : address.withoutCredentials
        if address.fragment == nil { address = address.withFragment(from.fragment) }
        return checked(
            Redirect(
                previous: from, previousMethod: current.method, method: change.method, address: address,
                dropsBody: change.dropsBody, credentialFields: policy.credentialFields))
    }

    /// What is decided about a redirect which a hook has changed.
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
#endif
