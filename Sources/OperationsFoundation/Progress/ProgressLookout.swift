import Foundation

/// Looks at the children of a progress from time to time, as long as there are some whose changes are not pushed.
///
/// Those are children of a subclass of `Progress`, and children that had children of their own before they were added: of
/// what goes on there Foundation tells no other class.
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
}
