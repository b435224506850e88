import HTTPCaching
import HTTPCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// Responses from the cache in place of a failing server.
extension Transfer {
    /// Returns the stored response that may replace the response of a failing server. An exceeded time limit counts as a
    /// failure of the server.
    ///
    /// - Throws: The error, if no stored response may be used; `CancellationError`, if the attempt must stop for another
    ///   reason.
    func standIn(_ load: CacheLoad, after error: any Error) throws -> CachedResponse {
        guard cause(of: error) is HTTPError, let stored = load.fallback(at: Date()) else { throw error }
        try liftTimeLimits()
        return stored
    }

    /// Receives the body of a response. If the body breaks off, receives the stored response where the cache permits it. Bytes
    /// that were delivered to the consumer rule this out.
    func receiveOrFallBack(
        _ reply: Reply, _ resume: ResumePoint?, at address: HTTPAddress
    ) async throws -> Reception {
        do {
            return try await receive(reply, resume, at: address)
        } catch {
            guard let load = reply.storing?.load, sink.mayBeginAnew, (cause(of: error) as? HTTPError)?.isBreak == true
            else { throw error }
            let stored = Reply(try standIn(load, after: error))
            note(stored, at: address)
            return try await receive(stored, nil, at: address)
        }
    }
}

extension HTTPError {
    /// Whether the connection broke or the server is silent.
    fileprivate var isBreak: Bool {
        switch reason {
        case .connection, .truncated, .timedOut: true
        default: false
        }
    }
}
