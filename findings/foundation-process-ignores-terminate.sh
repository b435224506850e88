#!/bin/sh
# Foundation of Swift 6.3.1 on Linux: `Process.terminate()` ends no child whose `run()` was called in a block of Dispatch, in an
# operation of Foundation, or in a task. It ends one whose `run()` was called on the main thread or in a `Thread`.
#
# The workers of Dispatch, which run all three, block nearly all signals, SIGTERM included. `run()` gives the child the mask of the
# calling thread, and a blocked signal stays blocked in a new program. So `terminate()` sends SIGTERM, and the child never gets it.
#
# Seen on 2026-11-29, Debian 12, x86_64:
#     main thread: ended by signal 15
#     Dispatch block: still running
#     Foundation operation: still running
#     task: still running
#     Thread: ended by signal 15
#
# Here: ThreadOriginTests; ProcessAndThreads.md.
set -eu
command -v swiftc > /dev/null || { echo 'swiftc is missing'; exit 2; }
swiftc --version 2>&1 | grep -q 'Swift version 6\.3\.1 ' || { echo 'this was seen with Swift 6.3.1'; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > main.swift << 'END'
import Dispatch
import Foundation

func show(_ place: String) {
    let child = Process()
    child.executableURL = URL(fileURLWithPath: "/bin/sleep")
    child.arguments = ["60"]
    try! child.run()
    child.terminate()
    // A child that can be ended is gone within milliseconds.
    for _ in 0..<200 where child.isRunning { usleep(10_000) }
    print("\(place): \(child.isRunning ? "still running" : "ended by signal \(child.terminationStatus)")")
    if child.isRunning { kill(child.processIdentifier, SIGKILL) }
}

let done = DispatchSemaphore(value: 0)
show("main thread")
DispatchQueue.global().async { show("Dispatch block"); done.signal() }
done.wait()
let queue = OperationQueue()
queue.addOperation { show("Foundation operation"); done.signal() }
done.wait()
Task.detached { show("task"); done.signal() }
done.wait()
Thread { show("Thread"); done.signal() }.start()
done.wait()
END
swiftc main.swift -o show 2> /dev/null
./show | tee seen
cat > expected << 'END'
main thread: ended by signal 15
Dispatch block: still running
Foundation operation: still running
task: still running
Thread: ended by signal 15
END
cmp -s seen expected || { echo 'This has changed.'; exit 1; }
