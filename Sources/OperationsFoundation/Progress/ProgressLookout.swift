import Foundation

/// Looks for changes from time to time, as long as there may be some that are not pushed: those of children of a subclass of
/// `Progress`, of which Foundation notifies no other class, and a change of a plain progress that another thread was making
/// when the progress got its class.
enum ProgressLookout {
    /// How long a change may take to come up from there.
    static let interval = Duration.milliseconds(50)

    /// Of each progress once at a time.
    static func begin(for progress: ContainedProgress) {
        Task.detached(priority: .utility) { [weak progress] in
            repeat {
                do { try await Task.sleep(for: interval) } catch { return }
                if let progress { ProgressTree.change(progress) { progress.takeInSilent() } }
            } while progress?.endsLookout() == false
        }
    }

    /// Looks at a plain progress. While only a change that was under way can be missing, each interval is twice the last.
    static func begin(for progress: Progress, _ number: Int) {
        Task.detached(priority: .utility) { [weak progress] in
            var pause = interval
            while true {
                do { try await Task.sleep(for: pause) } catch { return }
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
