#if !canImport(ObjectiveC)
public import Foundation
@_spi(Hosting) public import KeyValueObserving

// Rule G5. On Apple's systems `Progress` is observed by the system's own means.

extension Progress: KeyValueObservable {
    /// Who observes the progress. That of a queue announces its changes; others, here, announce nothing.
    public var keyValueObservers: KeyValueObservers { (self as? QueueProgress)?.observers ?? Self.silent }

    private static let silent = KeyValueObservers()
}

extension KeyValueObservable where Self: Progress {
    /// What can be observed of a queue's progress.
    public static var keyValueKeys: [KeyValueKey] {
        [
            KeyValueKey("fractionCompleted", \Self.fractionCompleted),
            KeyValueKey("completedUnitCount", \Self.completedUnitCount),
            KeyValueKey("totalUnitCount", \Self.totalUnitCount),
        ]
    }
}
#endif
