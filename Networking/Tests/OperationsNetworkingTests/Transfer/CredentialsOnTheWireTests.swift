import Foundation
import HTTPTypes
import HTTPTestServer
import Operations
import OperationsNetworking
import TestSupport
import Testing

/// Credentials on the wire, to the right server and to other servers (rules R7 and R8).
@Suite(.timeLimit(.minutes(5))) struct CredentialsOnTheWireTests {
    private let queue = OperationQueue()

    /// A source that answers each challenge with one credential, and records the origins.
    private final class Source: HTTPCredentialSource {
        let credential: HTTPCredential
        let asked = Journal<String?>()

        init(_ credential: HTTPCredential) { self.credential = credential }

        func credential(for challenge: HTTPChallenge) async -> HTTPCredential? {
            asked.append(challenge.origin)
            await Task.yield()
            return credential
        }
    }

    private func text(_ url: String, _ session: HTTPSession) async throws -> String {
        let operation = HTTPDataOperation(get(url), as: .text, session: session)
        queue.addOperation(operation)
        return try await operation.value
    }

    @Test func `Basic, Digest with both algorithms and Bearer work, with one request for the credential`() async throws
    {
        let inside = LoopbackRoute.always("/", .text("inside"))
        let password = HTTPCredential.password(user: "Ålice", password: "s\"cret")
        let cases: [(LoopbackRoute, HTTPCredential)] = [
            (.basic(user: "Ålice", password: "s\"cret", then: inside), password),
            (.digest(user: "Ålice", password: "s\"cret", algorithms: [.sha256], then: inside), password),
            (.digest(user: "Ålice", password: "s\"cret", algorithms: [.md5], then: inside), password),
            (
                .digest(
                    user: "Ålice", password: "s\"cret", algorithms: [.md5, .sha256], usesPerNonce: 1, then: inside),
                password
            ),
            (.bearer(token: "t0ken=", then: inside), .bearer("t0ken=")),
        ]
        for (route, credential) in cases {
            try await withServer({ await LoopbackRoutes([route]).answer($0) }) { server in
                let source = Source(credential)
                let session = HTTPSession.plain { $0.credentials = source }
                let answer = try await text(server.url + "/", session)
                #expect(answer == "inside" && source.asked.entries == [server.url] && server.requests.count == 2)
            }
            try await withServer({ await LoopbackRoutes([route]).answer($0) }) { server in
                let source = Source(.password(user: "Mallory", password: "guess"))
                let session = HTTPSession.plain { $0.credentials = source }
                let why = await reason { try await text(server.url + "/", session) }
                #expect(why?.text == "unacceptableStatus" && server.requests.count <= 2, "each is tried once")
            }
        }
    }

    @Test func `a redirect keeps credentials within an origin, and drops them at another origin`() async throws {
        try await withServer({ LoopbackResponse.text(LoopbackEcho($0)["authorization"].joined()) }) { other in
            let routes = LoopbackRoutes([
                .redirect("/away", to: other.url + "/"), .redirect("/near", to: "/here"),
                LoopbackRoute("/here") { .text($0.fields[.authorization] ?? "nothing") },
            ])
            try await withServer({ await routes.answer($0) }) { server in
                var away = get(server.url + "/away")
                away.fields = [.authorization: "Bearer secret", .cookie: "id=1", .accept: "text/plain"]
                let leaving = HTTPDataOperation(away, as: .text, session: .plain())
                var near = away
                near.url = server.url + "/near"
                let staying = HTTPDataOperation(near, as: .text, session: .plain())
                for operation in [leaving, staying] { queue.addOperation(operation) }
                let (gone, stayed) = (try await leaving.value, try await staying.value)
                #expect(gone.isEmpty && stayed == "Bearer secret")
                let arrived = try #require(other.requests.first)
                #expect(arrived.fields[.cookie] == nil && arrived.fields[.accept] == "text/plain")
                #expect(leaving.redirects == [other.url + "/"] && leaving.metrics.redirects == 1)
            }
        }
    }

    @Test func `a name and password in the address go to its origin only, and appear in no error`() async throws {
        try await withServer({ _ in LoopbackResponse(.forbidden) }) { server in
            let url = server.url.replacing("http://", with: "http://me:secret@")
            let why = await reason { try await text(url + "/", .plain()) }
            #expect(why == HTTPCoreReason(text: "unacceptableStatus", url: server.url + "/"))
            #expect(server.requests.first?.fields[.authorization] == "Basic bWU6c2VjcmV0")
        }
    }

    @Test func `a hook changes a redirect, or refuses it and receives the redirecting response`() async throws {
        let routes = LoopbackRoutes([
            .redirect("/", to: "/there"), .always("/there", .text("there")), .always("/elsewhere", .text("elsewhere")),
        ])
        try await withServer({ await routes.answer($0) }) { server in
            let changing = HTTPSession.plain {
                $0.redirectHandler = { redirect in
                    await Task.yield()
                    redirect.url = redirect.url.replacing("/there", with: "/elsewhere")
                    return true
                }
            }
            let answer = try await text(server.url + "/", changing)
            #expect(answer == "elsewhere")
            let refusing = HTTPSession.plain { $0.redirectHandler = { _ in false } }
            let operation = HTTPDataOperation(get(server.url + "/"), session: refusing)
            queue.addOperation(operation)
            let why = await reason { try await operation.value }
            #expect(why?.text == "unacceptableStatus" && operation.response?.status == .found)
            let lost = HTTPSession.plain {
                $0.redirectHandler = { redirect in
                    redirect.url = "nowhere"
                    return true
                }
            }
            let refusal = await reason { try await text(server.url + "/", lost) }
            #expect(refusal?.text == "redirectRefused")
        }
    }
}
