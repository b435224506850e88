import CPlatform
import Observation

/// What observing keeps for each thread. Only its own thread touches it.
final class ObservingThread {
    /// Changes that were announced by hand and are not yet made.
    @exclusivity(unchecked) var announced: [PendingAnnouncements.Entry] = []
    /// What some key paths mean that were used last.
    let resolutions = Resolution.makeCache()
    /// What finds out whether the Observation framework tracks what this thread reads.
    @exclusivity(unchecked) private var detector: Registrar
    /// Of the detector; asked so often that a reference would be counted too often.
    @exclusivity(unchecked) private(set) var detectorAddress: UnsafeMutablePointer<ObservationRegistrar>
    let probe = TrackingProbe.path
    /// The observation that is telling the Observation framework of a change on this thread.
    @exclusivity(unchecked) var informing: ObjectIdentifier?

    /// The class that was asked for last.
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

    /// The detector, which has been found out for good: what was tracked with it holds on to it.
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

    /// Without counting a reference.
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
