import Testing

#if PLAIN_FOUNDATION
import Foundation
#else
import OperationsFoundation
#endif

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The style of an operation that is the delegate of its own transfer, and reports the progress of the transfer.
final class TransferOperation: FlagsOperation, URLSessionDataDelegate, ProgressReporting, @unchecked Sendable {
    // Sendable: locks guard the mutable state, and the session is constant after its start.
    let progress = Progress(totalUnitCount: 1)
    private let address: URL
    private let received = Kept(Data())
    private let session = Kept<URLSession?>(nil)

    init(_ address: URL) { self.address = address }

    var data: Data { received() }

    override func work() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Echo.self]
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        self.session.set(session)
        session.dataTask(with: address).resume()
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        received.set(received() + data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        progress.completedUnitCount = 1
        session.finishTasksAndInvalidate()
        finish()
    }

    /// Responds with the last path component of the URL, so no network is needed.
    private final class Echo: URLProtocol {
        override class func canInit(with request: URLRequest) -> Bool { true }

        override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

        override func startLoading() {
            guard let url = request.url else { return }
            let response = URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
            client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
            client?.urlProtocol(self, didLoad: Data(url.lastPathComponent.utf8))
            client?.urlProtocolDidFinishLoading(self)
        }

        override func stopLoading() {}
    }
}

@Suite(.timeLimit(.minutes(1))) struct DelegateStyle {
    @Test func `transfers run as operations that are their own delegates`() throws {
        let queue = OperationQueue()
        let transfers = try (0..<4).map { TransferOperation(try #require(URL(string: "https://echo.invalid/\($0)"))) }
        queue.addOperations(transfers, waitUntilFinished: true)
        #expect(transfers.map { String(decoding: $0.data, as: UTF8.self) } == ["0", "1", "2", "3"])
        #expect(transfers.allSatisfy { $0.progress.isFinished })
    }
}
