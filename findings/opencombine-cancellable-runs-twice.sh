#!/bin/sh
# OpenCombine 0.14.0: `AnyCancellable.cancel()` runs its closure once for each thread that calls it while the closure runs.
#
# The class forgets the closure only after the closure has returned, and it has no lock. A subscription that two threads cancel, such
# as a time limit and a user, therefore releases its resources twice, although `cancel()` reads as if it took effect once. A call
# after the return of the first one does nothing, so a test on one thread does not show it.
#
# Seen on 2026-11-29 with Swift 6.3.1, x86_64 Linux:
#     the closure ran 2 times
#     a later call: 2 times
#
# Here: the handle of a repetition of OperationsCombine is no AnyCancellable; RepetitionTests.
set -eu
command -v swift > /dev/null || { echo 'swift is missing'; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir -p Sources/Show
cat > Package.swift << 'END'
// swift-tools-version:6.0
import PackageDescription

let package = Package(
    name: "Show",
    dependencies: [.package(url: "https://github.com/OpenCombine/OpenCombine", exact: "0.14.0")],
    targets: [.executableTarget(name: "Show", dependencies: ["OpenCombine"], swiftSettings: [.swiftLanguageMode(.v5)])])
END
cat > Sources/Show/main.swift << 'END'
import Dispatch
import OpenCombine

// The semaphores order all accesses.
var runs = 0
let (begun, mayEnd, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
let cancellable = AnyCancellable {
    runs += 1
    guard runs == 1 else { return }
    begun.signal()
    mayEnd.wait()
}
DispatchQueue.global().async {
    cancellable.cancel()
    ended.signal()
}
begun.wait()
cancellable.cancel()
mayEnd.signal()
ended.wait()
print("the closure ran \(runs) times")
cancellable.cancel()
print("a later call: \(runs) times")
END
swift build > build.log 2>&1 || { tail -n 5 build.log; echo 'the package cannot be built'; exit 2; }
.build/debug/Show | tee seen
printf 'the closure ran 2 times\na later call: 2 times\n' > expected
cmp -s seen expected || { echo 'This has changed.'; exit 1; }
