import Foundation
import Operations

/// A periodic search for changes that are not pushed.
///
/// Three kinds of change are not pushed. Foundation notifies no other class of the changes of children of a subclass of
/// `Progress`. The second kind is a change of a plain progress that another thread was making when the progress received its new
/// class. The third kind is a change in the function that created the progress. The optimizer takes the class of an object for
/// constant. So it may call a method at the address that it loaded before the class changed.
enum ProgressLookout {
    /// The time until such a change is found.
    static let interval = Duration.milliseconds(50)

    /// Threads of the library, because tasks that compute may occupy all threads of the concurrency runtime (rule A8).
    private static let executor: any TaskExecutor = {
        let queue = Operations.OperationQueue()
        queue.qualityOfService = .utility
        return queue.executorBeside
    }()

    /// Starts a lookout. Each progress has at most one lookout at a time.
    static func begin(for progress: ContainedProgress) {
        Task.detached(executorPreference: executor, priority: .utility) { [weak progress] in
            repeat {
                do { try await ContinuousClock().sleepFully(for: interval) } catch { return }
                if let progress { ProgressTree.change(progress) { progress.takeInSilent() } }
            } while progress?.endsLookout() == false
        }
    }

    /// Starts a lookout for a plain progress. While only an interrupted change can be missing, each interval is twice the
    /// previous one.
    static func begin(for progress: Progress, _ number: Int) {
        Task.detached(executorPreference: executor, priority: .utility) { [weak progress] in
            var pause = interval
            while true {
                do { try await ContinuousClock().sleepFully(for: pause) } catch { return }
                guard let progress, ProgressTree.continues(number, at: progress) else { return }
                switch ProgressTree.look(at: progress) {
                case .none: return
                case .soon: pause = interval
                case .later: pause *= 2
                }
            }
        }
    }
}
