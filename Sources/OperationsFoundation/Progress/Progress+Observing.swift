#if !canImport(ObjectiveC)
public import Foundation
@_spi(Hosting) public import KeyValueObserving
package import Operations

// On Apple's systems the system itself makes `Progress` observable.

extension Progress: KeyValueObservable {
    /// The observers of this progress.
    ///
    /// After the first use, a plain `Progress` reports its changes and its children's changes at once, on the thread that makes
    /// the change. Three kinds of change are found later, by a periodic search. Changes of children of a subclass are found
    /// within 50 ms. The second kind is a change that another thread is making during the first use. The third kind is a
    /// change in the function that creates a child: optimized code may use addresses of methods from before the first use. An object of a subclass has
    /// separate observers, which are notified only of the changes that the subclass announces.
    public var keyValueRegistrar: KeyValueRegistrar { ProgressTree.observedLink(of: self) ?? linkOfSubclass }

    private static let linkKey = ProgressUserInfoKey(rawValue: "swift-operations.observers")

    /// The link of a subclass. The user-info dictionary holds the link, because only the dictionary is released with the
    /// progress.
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
                "\(type(of: self)) is a subclass of Progress. Its observers are notified only of changes that it announces "
                    + "with willChangeValue(for:) and didChangeValue(for:)")
        }
        return link
    }
}

/// Makes `\.progress.fractionCompleted` and `"progress.fractionCompleted"` of a queue observable.
extension OperationQueue: ContributedKeys {}

extension ContributedKeys where Self: OperationQueue {
    package static var contributedKeys: [KeyValueKey] { [KeyValueKey("progress", \Self.progress)] }
}

extension KeyValueObservable where Self: Progress {
    /// The observable properties of a progress.
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
