import CPlatform
import Observation

/// The state that observation keeps for each thread. Only the owning thread uses it.
final class ObservingThread {
    /// Changes that were announced by hand and are not made yet.
    @exclusivity(unchecked) var announced: [PendingAnnouncements.Entry] = []
    /// The meanings of the key paths that the thread used last.
    let resolutions = Resolution.makeCache()
    /// The registrar that detects whether the Observation framework tracks the reads of this thread.
    @exclusivity(unchecked) private var detector: Registrar
    /// The address in the detector. Reads use it so often that a reference count at each read would be too expensive.
    @exclusivity(unchecked) private(set) var detectorAddress: UnsafeMutablePointer<ObservationRegistrar>
    let probe = TrackingProbe.path
    /// The observation that is notifying the Observation framework of a change on this thread.
    @exclusivity(unchecked) var informing: ObjectIdentifier?
    /// The observation on a path that a watch on this thread is notifying, and the changes that it has received from there.
    @exclusivity(unchecked) var level: (id: ObjectIdentifier, changes: [Change])?

    /// The class in the last call of `isObservable`.
    @exclusivity(unchecked) private var lastClass: ObjectIdentifier?
    @exclusivity(unchecked) private var isLastObservable = false

    /// Whether the class of an object takes part in the Observation framework.
    func isObservable(_ object: AnyObject) -> Bool {
        let id = ObjectIdentifier(type(of: object))
        if id != lastClass {
            lastClass = id
            isLastObservable = object is any Observable
        }
        return isLastObservable
    }

    /// Returns the detector, and replaces it with a new one. The property that was tracked keeps the returned detector.
    func takeDetector() -> Registrar {
        defer {
            detector = Registrar()
            detectorAddress = detector.address
        }
        return detector
    }

    private init() {
        detector = Registrar()
        detectorAddress = detector.address
    }

    deinit { Resolution.free(resolutions) }

    private static let key = cplatform_make_key { end($0) }

    @inline(__always)
    static var current: ObservingThread { unmanaged._withUnsafeGuaranteedRef { $0 } }

    /// The state of this thread, without a reference count.
    @inline(__always)
    static var unmanaged: Unmanaged<ObservingThread> {
        if let known = cplatform_this_thread().pointee.observing { return Unmanaged.fromOpaque(known) }
        return begin()
    }

    @inline(never)
    private static func begin() -> Unmanaged<ObservingThread> {
        let new = Unmanaged.passRetained(ObservingThread())
        cplatform_this_thread().pointee.observing = new.toOpaque()
        cplatform_at_thread_end(key, new.toOpaque())
        return new
    }

    private static func end(_ known: UnsafeMutableRawPointer) {
        cplatform_this_thread().pointee.observing = nil
        Unmanaged<ObservingThread>.fromOpaque(known).release()
    }
}
