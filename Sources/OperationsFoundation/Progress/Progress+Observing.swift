#if !canImport(ObjectiveC)
public import Foundation
@_spi(Hosting) public import KeyValueObserving
package import Operations

// Rule G5. On Apple's systems `Progress` is observed by the system's own means.

extension Progress: KeyValueObservable {
    /// The observers of this progress.
    ///
    /// The first use makes a plain `Progress` report its changes, and those of its children, at once, on the thread that
    /// makes the change. Two kinds of changes are reported late, by looking for them: those of children of a subclass
    /// within a twentieth of a second, and one that another thread is making during the first use. An object of a
    /// subclass has observers of its own, which are notified of what it announces itself.
    public var keyValueObservers: KeyValueObservers { ProgressTree.observedLink(of: self) ?? linkOfSubclass }

    private static let linkKey = ProgressUserInfoKey(rawValue: "swift-operations.observers")

    /// Kept in the dictionary of the progress: nothing else goes when it goes.
    private var linkOfSubclass: ProgressLink {
        var isNew = false
        let link = ProgressTree.withLock {
            if let known = userInfo[Self.linkKey] as? ProgressLink { return known }
            isNew = true
            let new = ProgressLink(nil)
            setUserInfoObject(new, forKey: Self.linkKey)
            return new
        }
        if isNew {
            Log.warning(
                "\(type(of: self)) is a subclass of Progress: its observers are notified of changes that it announces "
                    + "with willChangeValue(for:) and didChangeValue(for:), and of no others")
        }
        return link
    }
}

/// `\.progress.fractionCompleted` of a queue can be observed, and `"progress.fractionCompleted"`.
extension OperationQueue: ContributedKeys {}

extension ContributedKeys where Self: OperationQueue {
    package static var contributedKeys: [KeyValueKey] { [KeyValueKey("progress", \Self.progress)] }
}

extension KeyValueObservable where Self: Progress {
    /// What can be observed of a progress.
    public static var keyValueKeys: [KeyValueKey] {
        [
            KeyValueKey("fractionCompleted", \Self.fractionCompleted),
            KeyValueKey("completedUnitCount", \Self.completedUnitCount),
            KeyValueKey("totalUnitCount", \Self.totalUnitCount),
            KeyValueKey("isFinished", aliases: ["finished"], \Self.isFinished),
            KeyValueKey("isCancelled", aliases: ["cancelled"], \Self.isCancelled),
            KeyValueKey("isPaused", aliases: ["paused"], \Self.isPaused),
            KeyValueKey("isIndeterminate", aliases: ["indeterminate"], \Self.isIndeterminate),
        ]
    }
}
#endif
