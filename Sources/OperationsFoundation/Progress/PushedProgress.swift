import Foundation
import Synchronization

/// The class of a plain progress whose changes are reported.
enum Pushed {
    /// A plain progress that reports its changes. It is called `Progress` because its description contains the name of the
    /// class.
    final class Progress: Foundation.Progress, @unchecked Sendable {
        // Sendable: the class must have no properties, because its objects were allocated as objects of the superclass.

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
            // A child that Foundation's `init` is creating has no units yet.
            let isNew = child.totalUnitCount == 0 && Foundation.Progress.current() === self
            // The child is added to Foundation's tree, too. If this progress is cancelled or paused, Foundation then cancels or
            // pauses the child, which runs user code. The check is therefore made under the lock, and in that case the child is
            // added without the lock.
            let isAdded = ProgressTree.withLock {
                guard !ProgressTree.isSteered(self) else { return false }
                super.addChild(child, withPendingUnitCount: units)
                return true
            }
            if !isAdded { super.addChild(child, withPendingUnitCount: units) }
            ProgressTree.change(self) {
                if ProgressTree.adopt(child, by: self, isNew: isNew) == false { ProgressTree.beginLookout(for: self) }
            }
        }

        override func cancel() { ProgressTree.steer(self) { super.cancel() } }

        override func pause() { ProgressTree.steer(self) { super.pause() } }

        override func resume() { ProgressTree.steer(self) { super.resume() } }
    }

    /// Changes the class of an object from `Progress` to `Pushed.Progress`. Returns false if the object is of another class.
    static func take(_ progress: Foundation.Progress) -> Bool {
        #if canImport(ObjectiveC)
        // Key-value observing changes the class there.
        return false
        #else
        if type(of: progress) == Pushed.Progress.self { return true }
        guard type(of: progress) == Foundation.Progress.self else { return false }
        // The first word of an object identifies its class. Other threads may read the word at any time.
        let word = Unmanaged.passUnretained(progress).toOpaque().assumingMemoryBound(to: Atomic<UInt>.self)
        let old = UInt(bitPattern: unsafeBitCast(Foundation.Progress.self, to: UnsafeRawPointer.self))
        let new = UInt(bitPattern: unsafeBitCast(Pushed.Progress.self, to: UnsafeRawPointer.self))
        return word.pointee.compareExchange(expected: old, desired: new, ordering: .acquiringAndReleasing).exchanged
        #endif
    }
}

extension Progress {
    /// Returns the unfinished children in Foundation's tree; nil if they cannot be found.
    ///
    /// Foundation has no member for the children, so the function searches the stored properties for a set of progresses. The
    /// caller releases the children with `ProgressTree.release`.
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
