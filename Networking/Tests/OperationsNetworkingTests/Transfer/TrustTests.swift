import Crypto
import Foundation
import HTTPTestServer
import NIOSSL
import Operations
import OperationsNetworking
import TestSupport
import Testing

/// The trust of a session (rule R9).
@Suite(.timeLimit(.minutes(5))) struct TrustTests {
    private let queue = OperationQueue()

    static let protocols: [HTTPTestServer.Configuration.TransportProtocol] = [.http1TLS, .http2]

    private func outcome(_ session: HTTPSession, _ server: HTTPTestServer) async -> String? {
        let operation = HTTPDataOperation(get(server.localhostURL + "/"), session: session)
        queue.addOperation(operation)
        return await reason { try await operation.value }?.text
    }

    @Test(arguments: protocols, HTTPTestServer.Configuration.Certificate.allCases)
    func `a certificate must be trusted, valid and issued for the host`(
        version: HTTPTestServer.Configuration.TransportProtocol, certificate: HTTPTestServer.Configuration.Certificate
    ) async throws {
        try await withServer({ _ in .text("x") }, .init(protocol: version, certificate: certificate)) { server in
            let trusting = try HTTPSession.trusting(server)
            let careless = try HTTPSession.trusting(server) { $0.trust.isVerificationOn = false }
            #expect(
                await outcome(trusting, server) == (certificate == .valid ? nil : "certificateRefused"))
            #expect(await outcome(.plain(), server) == "certificateRefused")
            #expect(await outcome(careless, server) == nil)
        }
    }

    @Test(arguments: [true, false]) func `a server that speaks TLS 1.1 at most is refused`(isVerified: Bool)
        async throws
    {
        var configuration = HTTPTestServer.Configuration(protocol: .http1TLS)
        configuration.speaksOldTLSOnly = true
        try await withServer({ _ in .text("x") }, configuration) { server in
            let session = try HTTPSession.trusting(server) { $0.trust.isVerificationOn = isVerified }
            #expect(await outcome(session, server) == "connection")
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a root certificate is read from DER and from PEM, and other bytes are an error`() throws {
        let (authority, other) = (try LoopbackAuthority(), try LoopbackAuthority())
        let root = try HTTPTrust.Certificate(der: authority.rootDER)
        #expect(try HTTPTrust.Certificate.certificates(pem: Array(authority.rootPEM.utf8)) == [root])
        let two = Array((authority.rootPEM + "\n" + other.rootPEM).utf8)
        #expect(try HTTPTrust.Certificate.certificates(pem: two).count == 2)
        for bytes in [[], Array("no certificate".utf8), Array(authority.rootDER.prefix(100))] as [[UInt8]] {
            #expect(throws: HTTPTrust.InvalidCertificate.self) { try HTTPTrust.Certificate(der: bytes) }
            #expect(throws: HTTPTrust.InvalidCertificate.self) { try HTTPTrust.Certificate.certificates(pem: bytes) }
        }
    }

    @Test(arguments: [true, false]) func `only a session without verification prints a warning`(
        isOn: Bool
    ) async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) { [isOn] in
            var configuration = HTTPSession.Configuration()
            configuration.trust.isVerificationOn = isOn
            _ = HTTPSession(configuration)
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(text.contains("verifies no certificates") != isOn)
    }

    @Test(arguments: protocols) func `pins apply in addition to trust, and a server without a pin gets no request`(
        version: HTTPTestServer.Configuration.TransportProtocol
    ) async throws {
        try await withServer({ _ in .text("x") }, .init(protocol: version)) { server in
            let certificates = try #require(server.certificates)
            let certificate = Array(SHA256.hash(data: certificates.leafDER))
            let key = Array(SHA256.hash(data: certificates.leafPublicKeyDER))
            let right: [HTTPTrust.Pin] = [.certificate(sha256: certificate), .publicKey(sha256: key)]
            for pin in right {
                #expect(
                    try await outcome(.trusting(server) { $0.trust.pins = [pin, .publicKey(sha256: [])] }, server)
                        == nil)
                #expect(await outcome(.plain { $0.trust.pins = [pin] }, server) == "certificateRefused")
            }
            let count = server.requests.count
            let wrong: [HTTPTrust.Pin] = [
                .certificate(sha256: key), .publicKey(sha256: certificate), .certificate(sha256: []),
            ]
            for _ in 0..<20 {
                for pin in wrong {
                    #expect(
                        try await outcome(.trusting(server) { $0.trust.pins = [pin] }, server) == "certificateRefused")
                }
            }
            #expect(server.requests.count == count)
            await server.openConnections(are: 0)
        }
    }
}
