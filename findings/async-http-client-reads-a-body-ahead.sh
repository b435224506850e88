#!/bin/sh
# async-http-client 1.37.0: a streamed request body is read to its end while the event loop of its connection takes nothing.
#
# The task that sends a body asks for the next portion as soon as it has handed the last one over, and stops only when the event
# loop has reported a full connection. A loop that is late reports nothing. On busy processors an upload of a file can therefore fill
# the memory with the whole file, although bodies of type AsyncSequence read as if they had back-pressure at each portion.
#
# Seen on 2026-11-30 with Swift 6.3.1, x86_64 Linux:
#     256 of 256 MiB were requested while the event loop was busy
#
# Here: Networking waits for the event loops after each MiB of a body; PacedPortionsTests.
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
    dependencies: [
        .package(url: "https://github.com/swift-server/async-http-client.git", exact: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.81.0"),
    ],
    targets: [
        .executableTarget(
            name: "Show",
            dependencies: [
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ])
    ])
END
cat > Sources/Show/Body.swift << 'END'
import Dispatch
import NIOCore

/// 256 MiB in portions of 64 KiB. The first request for a portion keeps the event loop busy.
final class Body: AsyncSequence, AsyncIteratorProtocol, @unchecked Sendable {
    // The sending task changes it before `requestedAll`, and the program reads it afterward.
    private(set) var requested = 0
    let (requestedAll, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    private let loop: any EventLoop

    init(_ loop: any EventLoop) { self.loop = loop }

    func makeAsyncIterator() -> Body { self }

    func next() async throws -> ByteBuffer? {
        if requested == 0 { loop.execute { self.release.wait() } }
        if requested == 4096 { return nil }
        requested += 1
        if requested == 4096 { requestedAll.signal() }
        return ByteBuffer(repeating: 7, count: 64 << 10)
    }
}
END
cat > Sources/Show/main.swift << 'END'
import AsyncHTTPClient
import Dispatch
import Glibc
import NIOCore
import NIOPosix

let servers = MultiThreadedEventLoopGroup(numberOfThreads: 1)
let clients = MultiThreadedEventLoopGroup(numberOfThreads: 1)
let server = try ServerBootstrap(group: servers).bind(host: "127.0.0.1", port: 0).wait()
let client = HTTPClient(eventLoopGroupProvider: .shared(clients))
let body = Body(clients.next())
var request = HTTPClientRequest(url: "http://127.0.0.1:\(server.localAddress!.port!)/")
request.method = .POST
request.body = .stream(body, length: .known(Int64(256 << 20)))
let sent = request
Task.detached { try await client.execute(sent, deadline: .distantFuture) }
_ = body.requestedAll.wait(timeout: .now() + 30)
print("\(body.requested / 16) of 256 MiB were requested while the event loop was busy")
exit(0)
END
swift build > build.log 2>&1 || { tail -n 5 build.log; echo 'the package cannot be built'; exit 2; }
.build/debug/Show | tee seen
echo '256 of 256 MiB were requested while the event loop was busy' > expected
cmp -s seen expected || { echo 'This has changed.'; exit 1; }
