import Foundation
import Synchronization

/// A plain progress whose changes are reported.
enum Pushed {
    /// Called `Progress` too, for that is what its description says.
    final class Progress: Foundation.Progress, @unchecked Sendable {
        // Sendable: no properties, for its objects were made as ones of the superclass.

        deinit { ProgressTree.isGone(ObjectIdentifier(self)) }

        override var totalUnitCount: Int64 {
            get { ProgressTree.withLock { super.totalUnitCount } }
            set { ProgressTree.change(self) { super.totalUnitCount = newValue } }
        }

        override var completedUnitCount: Int64 {
            get { ProgressTree.withLock { super.completedUnitCount } }
            set { ProgressTree.change(self) { super.completedUnitCount = newValue } }
        }

        override func resignCurrent() { ProgressTree.change(self) { super.resignCurrent() } }

        override func addChild(_ child: Foundation.Progress, withPendingUnitCount units: Int64) {
            // One that is made inside of Foundation's `init` has no units yet.
            let isNew = child.totalUnitCount == 0 && Foundation.Progress.current() === self
            // In Foundation's tree, too. When this is cancelled or paused, that cancels or pauses the child, which runs code
            // of the user's. So the question is asked under the lock, and such a child is added without it.
            let isAdded = ProgressTree.withLock {
                guard !ProgressTree.isSteered(self) else { return false }
                super.addChild(child, withPendingUnitCount: units)
                return true
            }
            if !isAdded { super.addChild(child, withPendingUnitCount: units) }
            ProgressTree.change(self) {
                if !ProgressTree.adopt(child, by: self, isNew: isNew) { ProgressTree.beginLookout(for: self) }
            }
        }

        override func cancel() { ProgressTree.steer(self) { super.cancel() } }

        override func pause() { ProgressTree.steer(self) { super.pause() } }

        override func resume() { ProgressTree.steer(self) { super.resume() } }
    }

    /// Makes an object of the class `Progress` one of `Pushed.Progress`. False: it is of another class.
    static func take(_ progress: Foundation.Progress) -> Bool {
        #if canImport(ObjectiveC)
        // Key-value observing does this there.
        return false
        #else
        if type(of: progress) == Pushed.Progress.self { return true }
        guard type(of: progress) == Foundation.Progress.self else { return false }
        // The first word of an object is its class. Other threads read it at any time.
        let word = Unmanaged.passUnretained(progress).toOpaque().assumingMemoryBound(to: Atomic<UInt>.self)
        let old = UInt(bitPattern: unsafeBitCast(Foundation.Progress.self, to: UnsafeRawPointer.self))
        let new = UInt(bitPattern: unsafeBitCast(Pushed.Progress.self, to: UnsafeRawPointer.self))
        return word.pointee.compareExchange(expected: old, desired: new, ordering: .acquiringAndReleasing).exchanged
        #endif
    }
}

extension Progress {
    /// The children that a progress has in Foundation's tree, and that are not finished. nil: they cannot be had.
    ///
    /// Foundation has no member for that, so its stored properties are looked at, for a set of progresses. The caller
    /// releases them with `ProgressTree.release`.
    func presentChildren() -> Set<Progress>? {
        var mirror: Mirror? = Mirror(reflecting: self)
        while let type = mirror, type.subjectType != Progress.self { mirror = type.superclassMirror }
        guard let mirror else { return nil }
        for property in mirror.children {
            if let parent = property.value as? Progress { ProgressTree.release(parent) }
            if let children = property.value as? Set<Progress> { return children }
        }
        return nil
    }
}
