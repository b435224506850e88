import CProcess
import Glibc

/// Starts a thread, which ends when `body` returns. A Swift task is no alternative, because blocking code would occupy a
/// shared thread.
///
/// - Parameter name: The name of the thread, with at most 15 bytes.
/// - Returns: Whether the system could start the thread.
package func startThread(named name: String, _ body: sending @escaping () -> Void) -> Bool {
    let start = Unmanaged.passRetained(ThreadStart(name: name, body: body))
    var thread = pthread_t()
    let error = pthread_create(
        &thread, nil,
        { argument in
            let start = Unmanaged<ThreadStart>.fromOpaque(argument.unsafelyUnwrapped).takeRetainedValue()
            cprocess_set_thread_name(start.name)
            start.body()
            return nil
        }, start.toOpaque())
    guard error == 0 else {
        start.release()
        return false
    }
    pthread_detach(thread)
    return true
}

private final class ThreadStart {
    let name: String
    let body: () -> Void

    init(name: String, body: @escaping () -> Void) {
        self.name = name
        self.body = body
    }
}
