/// The values of a change that are made only when the change is told, by the thread that tells it and without a lock.
///
/// For values that take too long to be made where the change is noted.
package protocol LateValues: AnyObject, Sendable {
    /// The values before and after the change. Called once for each change of the property, in the order in which they were
    /// noted, by the one thread whose turn it is to tell of the property. If an observer asks for a call before the change,
    /// it is called for that too.
    ///
    /// - Parameters:
    ///   - isPrior: For the call before the change.
    ///   - wantsOld: An observer asks for the value before the change.
    ///   - wantsNew: An observer asks for the value after the change.
    func values(isPrior: Bool, wantsOld: Bool, wantsNew: Bool) -> (old: Any?, new: Any?)
}

extension ObserverState {
    /// Gives a change that is told now its values, outside of the lock of the state.
    static func complete(_ change: inout Change, for observers: OneOrMore<Observation>) {
        guard let late = change.late else { return }
        let values = late.values(
            isPrior: change.isPrior, wantsOld: observers.contains { $0.options.contains(.old) },
            wantsNew: observers.contains(where: \.needsNew))
        (change.old, change.new, change.late) = (values.old, values.new, nil)
    }
}
