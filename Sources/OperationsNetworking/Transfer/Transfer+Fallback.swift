#if Networking
import HTTPCaching
import HTTPCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// When the server fails, and the cache may answer in its place (rules C1 and C2).
extension Transfer {
    /// The stored response, if it may serve after a failure of the server. An exceeded limit of time is such a failure.
    ///
    /// - Throws: The error, if nothing may serve; `CancellationError`, if the attempt is to be stopped for another reason.
    func standIn(_ load: CacheLoad, after error: any Error) throws -> CachedResponse {
        guard cause(of: error) is HTTPError, let stored = load.fallback(at: Date()) else { throw error }
        try liftTimeLimits()
        return stored
    }

    /// Takes the body of an answer. If it breaks off, and the cache may serve then, takes that instead; unless some of the body
    /// was given away.
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
    /// The server was there and is no longer, or is silent.
    fileprivate var isBreak: Bool {
        switch reason {
        case .connection, .truncated, .timedOut: true
        default: false
        }
    }
}
#endif
