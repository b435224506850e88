import AsyncHTTPClient
import HTTPTestServer
import NIOSSL
import Testing

@Suite struct TLSTests {
    typealias Configuration = HTTPTestServer.Configuration

    @Test(arguments: [Configuration.TransportProtocol.http1TLS, .http2])
    func `a client that trusts the root is served under both names`(
        kind: Configuration.TransportProtocol
    ) async throws {
        try await HTTPTestServer.with(.init(protocol: kind), handler: { .text($0.version.rawValue) }) { server in
            try await TrustingClient.with(server) { client in
                for url in [server.url, server.localhostURL] {
                    #expect(url.hasPrefix("https://"))
                    let text = try await client.get(url).text
                    #expect(text == (kind == .http2 ? "HTTP/2" : "HTTP/1.1"))
                }
            }
            #expect(server.connectionsEver == 2)
        }
    }

    @Test func `a client that does not offer HTTP-2 gets HTTP-1`() async throws {
        try await HTTPTestServer.with(.init(protocol: .http2), handler: { .text($0.version.rawValue) }) { server in
            let text = try await TrustingClient.with(server, http1Only: true) { try await $0.get(server.url).text }
            #expect(text == "HTTP/1.1")
        }
    }

    @Test(arguments: [Configuration.Certificate.untrusted, .wrongHost, .expired])
    func `the client refuses an invalid certificate`(certificate: Configuration.Certificate) async throws {
        let configuration = Configuration(protocol: .http1TLS, certificate: certificate)
        try await HTTPTestServer.with(configuration, handler: { _ in .text("") }) { server in
            try await TrustingClient.with(server) { client in
                await #expect(throws: (any Error).self) { try await client.get(server.url) }
            }
            #expect(server.requests.isEmpty && server.connectionsEver > 0)
            await server.openConnections(are: 0)
        }
    }

    @Test func `a client that trusts an authority trusts all of its servers and no others`() async throws {
        let authority = try LoopbackAuthority()
        let first = try await HTTPTestServer.start(.init(protocol: .http1TLS, authority: authority)) { _ in .text("1") }
        let second = try await HTTPTestServer.start(.init(protocol: .http1TLS, authority: authority)) { _ in .text("2")
        }
        let other = try await HTTPTestServer.start(.init(protocol: .http1TLS)) { _ in .text("3") }
        try await TrustingClient.with(first) { client in
            let texts = [try await client.get(first.url).text, try await client.get(second.url).text]
            #expect(texts == ["1", "2"])
            await #expect(throws: (any Error).self) { try await client.get(other.url) }
        }
        for server in [first, second, other] { await server.stop() }
        #expect(first.certificates?.rootDER == authority.rootDER)
        #expect(first.certificates?.leafDER != second.certificates?.leafDER)
    }

    @Test func `certificates have the configured properties`() async throws {
        let server = try await HTTPTestServer.start(.init(protocol: .http1TLS)) { _ in .text("") }
        let certificates = try #require(server.certificates)
        let leaf = try NIOSSLCertificate(bytes: certificates.leafDER, format: .der)
        #expect(try leaf.extractPublicKey().toSPKIBytes() == certificates.leafPublicKeyDER)
        #expect(try NIOSSLCertificate.fromPEMBytes(Array(certificates.leafPEM.utf8)) == [leaf])
        let root = try NIOSSLCertificate(bytes: certificates.rootDER, format: .der)
        #expect(try NIOSSLCertificate.fromPEMBytes(Array(certificates.rootPEM.utf8)) == [root])
        await server.stop()
    }

    @Test(arguments: [
        LoopbackResponse.Fault.closes(.beforeHead), .closes(.afterBody(3)), .hangsUp(.beforeHead), .hangsUp(.afterHead),
        .hangsUp(.afterBody(3)), .resets(.beforeHead), .resets(.afterHead), .resets(.afterBody(3)),
        .resetsConnection(.afterBody(3)), .malformedStatus, .conflictingLengths, .announces(length: 20),
    ])
    func `faults under TLS are errors for the client, and no connection stays open`(
        fault: LoopbackResponse.Fault
    ) async throws {
        let response = LoopbackResponse(body: .text("0123456789")).with(fault)
        try await HTTPTestServer.with(.init(protocol: .http1TLS), handler: { _ in response }) { server in
            try await TrustingClient.with(server) { client in
                await #expect(throws: (any Error).self) { try await client.get(server.url).text }
            }
            await server.openConnections(are: 0)
            await server.requestsInFlight(are: 0)
        }
    }
}
