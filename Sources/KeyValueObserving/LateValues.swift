/// A source of the values of a change. The notifying thread makes the values, without a lock.
///
/// Use it for values that take too long to make at the place where the change is recorded.
package protocol LateValues: AnyObject, Sendable {
    /// Returns the values before and after the change.
    ///
    /// The notifying thread of the property calls the function once for each change, in the order in which the changes were
    /// recorded. If an observer requests a call before the change, the function is also called for that call.
    ///
    /// - Parameters:
    ///   - isPrior: Whether the values are for the call before the change.
    ///   - wantsOld: Whether an observer requests the value before the change.
    ///   - wantsNew: Whether an observer requests the value after the change.
    func values(isPrior: Bool, wantsOld: Bool, wantsNew: Bool) -> (old: Any?, new: Any?)
}

extension ObserverState {
    /// Makes the values of a change that is being delivered, without the lock of the state.
    static func complete(_ change: inout Change, for observers: OneOrMore<Observation>) {
        guard let late = change.late else { return }
        let values = late.values(
            isPrior: change.isPrior, wantsOld: observers.contains { $0.options.contains(.old) },
            wantsNew: observers.contains(where: \.needsNew))
        (change.old, change.new, change.late) = (values.old, values.new, nil)
    }
}
