// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// The settings of code that comes to this project from Foundation: a warning fails the build.
let adoptionSettings: [SwiftSetting] = settings + [.treatAllWarnings(as: .error)]

/// Who has a clone builds `opq` with all its subcommands; a package that depends on this one fetches what it asks for. It
/// lies in a folder `checkouts` then; while versions are chosen it is read from the repository and lies nowhere.
let isDependency = Context.packageDirectory.contains("/checkouts/") || Context.packageDirectory == "/"

/// Fetched and built with the trait only.
func product(_ name: String, of package: String, with trait: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: [trait]))
}

let package = Package(
    name: "swift-operations",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Operations", targets: ["Operations"]),
        .library(name: "KeyValueObserving", targets: ["KeyValueObserving"]),
        .library(name: "OperationsFoundation", targets: ["OperationsFoundation"]),
        .library(name: "OperationsCombine", targets: ["OperationsCombine"]),
        .library(name: "OperationsObservability", targets: ["OperationsObservability"]),
        .library(name: "OperationsNetworking", targets: ["OperationsNetworking"]),
        .library(name: "OperationsImages", targets: ["OperationsImages"]),
        .library(name: "LoopbackServer", targets: ["LoopbackServer"]),
        .library(name: "OperationsTesting", targets: ["OperationsTesting"]),
        .library(name: "OperationsTrace", targets: ["OperationsTrace"]),
        .executable(name: "opq", targets: ["opq"]),
    ],
    traits: [
        .default(enabledTraits: isDependency ? [] : ["Networking"]),
        .trait(
            name: "Networking",
            description: """
                OperationsNetworking, OperationsImages, LoopbackServer, `opq fetch`. Fetches async-http-client, SwiftNIO, \
                GRDB and what these need; needs SQLite's headers (Debian: libsqlite3-dev).
                """),
        .trait(
            name: "Images",
            description: """
                OperationsImages decodes and scales, `opq fetch --thumbnail`. Needs libvips (Debian: libvips-dev).
                """,
            enabledTraits: ["Networking"]),
        .trait(
            name: "Combine",
            description: "OperationsCombine, where a queue is a scheduler of OpenCombine. Fetches OpenCombine."),
        .trait(
            name: "Logging",
            description: "OperationsObservability: queues write to a Logger. Fetches swift-log."),
        .trait(
            name: "Metrics",
            description: "OperationsObservability: counters and timers of queues. Fetches swift-metrics."),
        .trait(
            name: "Tracing",
            description: "OperationsObservability: a span for each operation. Fetches swift-distributed-tracing."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", .upToNextMinor(from: "0.14.0")),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.4.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .target(name: "CPlatform"),
        .target(name: "SchedulerCore", swiftSettings: settings),
        .target(name: "KeyValueObserving", dependencies: ["CPlatform"], swiftSettings: settings),
        .target(
            name: "Operations", dependencies: ["CPlatform", "KeyValueObserving", "SchedulerCore"],
            swiftSettings: settings),
        .target(
            name: "OperationsFoundation", dependencies: ["KeyValueObserving", "Operations"], swiftSettings: settings),
        .target(
            name: "OperationsCombine",
            dependencies: ["Operations", "SchedulerCore", product("OpenCombine", of: "OpenCombine", with: "Combine")],
            swiftSettings: settings),
        .target(
            name: "OperationsObservability",
            dependencies: [
                "Operations",
                product("Logging", of: "swift-log", with: "Logging"),
                product("Metrics", of: "swift-metrics", with: "Metrics"),
                product("Tracing", of: "swift-distributed-tracing", with: "Tracing"),
            ], swiftSettings: settings),
        .target(
            name: "HTTPCore",
            dependencies: [
                product("HTTPTypes", of: "swift-http-types", with: "Networking"),
                product("Crypto", of: "swift-crypto", with: "Networking"),
            ], swiftSettings: settings),
        .target(
            name: "HTTPCaching",
            dependencies: [
                "HTTPCore",
                product("HTTPTypes", of: "swift-http-types", with: "Networking"),
                product("Crypto", of: "swift-crypto", with: "Networking"),
                product("GRDB", of: "GRDB.swift", with: "Networking"),
            ], swiftSettings: settings),
        .target(
            name: "OperationsNetworking",
            dependencies: [
                "HTTPCaching",
                "HTTPCore",
                "Operations",
                product("AsyncHTTPClient", of: "async-http-client", with: "Networking"),
                product("NIOCore", of: "swift-nio", with: "Networking"),
                product("NIOPosix", of: "swift-nio", with: "Networking"),
                product("NIOHTTP1", of: "swift-nio", with: "Networking"),
                product("NIOHTTP2", of: "swift-nio-http2", with: "Networking"),
                product("NIOFoundationCompat", of: "swift-nio", with: "Networking"),
                .target(name: "CZlib", condition: .when(traits: ["Networking"])),
                product("NIOSSL", of: "swift-nio-ssl", with: "Networking"),
                product("Tracing", of: "swift-distributed-tracing", with: "Networking"),
                .product(name: "SystemPackage", package: "swift-system"),
                product("HTTPTypes", of: "swift-http-types", with: "Networking"),
                product("Crypto", of: "swift-crypto", with: "Networking"),
            ], swiftSettings: settings + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CVips", pkgConfig: "vips", providers: [.apt(["libvips-dev"]), .brew(["vips"])]),
        // Empty without the trait: nothing asks for libvips then.
        .target(
            name: "CImageDecoding", dependencies: [.target(name: "CVips", condition: .when(traits: ["Images"]))],
            cSettings: [.define("IMAGES", .when(traits: ["Images"]))]),
        .target(
            name: "OperationsImages",
            dependencies: [
                "HTTPCaching", "HTTPCore", "Operations", "OperationsNetworking",
                product("HTTPTypes", of: "swift-http-types", with: "Networking"),
                .target(name: "CImageDecoding", condition: .when(traits: ["Images"])),
            ], swiftSettings: settings),
        .target(
            name: "LoopbackServer",
            dependencies: [
                product("NIOCore", of: "swift-nio", with: "Networking"),
                product("NIOPosix", of: "swift-nio", with: "Networking"),
                product("NIOConcurrencyHelpers", of: "swift-nio", with: "Networking"),
                product("NIOHTTP1", of: "swift-nio", with: "Networking"),
                product("NIOHTTP2", of: "swift-nio-http2", with: "Networking"),
                product("NIOHPACK", of: "swift-nio-http2", with: "Networking"),
                product("NIOSSL", of: "swift-nio-ssl", with: "Networking"),
                product("HTTPTypes", of: "swift-http-types", with: "Networking"),
                product("Crypto", of: "swift-crypto", with: "Networking"),
                product("X509", of: "swift-certificates", with: "Networking"),
                product("SwiftASN1", of: "swift-asn1", with: "Networking"),
            ], swiftSettings: settings),
        .target(name: "OperationsTesting", dependencies: ["Operations", "SchedulerCore"], swiftSettings: settings),
        .target(name: "OperationsTrace", dependencies: ["KeyValueObserving", "Operations"], swiftSettings: settings),
        .target(name: "CProcess"),
        .target(
            name: "WorkflowEngine",
            dependencies: [
                "CPlatform",
                "CProcess",
                "KeyValueObserving",
                "Operations",
                "OperationsTrace",
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Yams", package: "Yams"),
            ], swiftSettings: settings),
        .executableTarget(
            name: "opq",
            dependencies: [
                "CPlatform",
                "HTTPCaching",
                "HTTPCore",
                "Operations",
                "OperationsImages",
                "OperationsNetworking",
                "OperationsTrace",
                "WorkflowEngine",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "SystemPackage", package: "swift-system"),
            ], swiftSettings: settings),
        .target(name: "CAllocator", path: "Tests/CAllocator"),
        .target(name: "CTestRun", path: "Tests/CTestRun"),
        .target(
            name: "TestSupport", dependencies: ["CTestRun", "OperationsTesting"], path: "Tests/TestSupport",
            swiftSettings: settings),
        .testTarget(
            name: "SchedulerCoreTests", dependencies: ["SchedulerCore", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "KeyValueObservingTests", dependencies: ["KeyValueObserving", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "OperationsTests", dependencies: ["Operations", "SchedulerCore", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "OperationsStressTests",
            dependencies: ["CAllocator", "Operations", "OperationsTesting", "SchedulerCore", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "OperationsFoundationTests",
            dependencies: ["OperationsFoundation", "OperationsTesting", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "OperationsCombineTests",
            dependencies: [
                "OperationsCombine", "OperationsFoundation", "OperationsTesting", "TestSupport",
                product("OpenCombine", of: "OpenCombine", with: "Combine"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "HTTPCoreTests",
            dependencies: [
                "HTTPCore", "TestSupport",
                product("HTTPTypes", of: "swift-http-types", with: "Networking"),
            ], swiftSettings: settings),
        .testTarget(
            name: "HTTPCachingTests",
            dependencies: [
                "HTTPCaching", "HTTPCore", "TestSupport",
                product("HTTPTypes", of: "swift-http-types", with: "Networking"),
                product("GRDB", of: "GRDB.swift", with: "Networking"),
            ], swiftSettings: settings),
        .testTarget(
            name: "OperationsNetworkingTests",
            dependencies: [
                "HTTPCaching", "HTTPCore", "LoopbackServer", "Operations", "OperationsNetworking", "OperationsTesting",
                "TestSupport",
                product("AsyncHTTPClient", of: "async-http-client", with: "Networking"),
                product("NIOCore", of: "swift-nio", with: "Networking"),
                product("NIOHTTP1", of: "swift-nio", with: "Networking"),
                product("NIOSSL", of: "swift-nio-ssl", with: "Networking"),
                product("HTTPTypes", of: "swift-http-types", with: "Networking"),
                product("Crypto", of: "swift-crypto", with: "Networking"),
                product("InMemoryTracing", of: "swift-distributed-tracing", with: "Networking"),
                product("Tracing", of: "swift-distributed-tracing", with: "Networking"),
            ], swiftSettings: settings),
        .testTarget(
            name: "OperationsImagesTests",
            dependencies: [
                "HTTPCaching", "LoopbackServer", "Operations", "OperationsImages", "OperationsNetworking",
                "OperationsTesting", "TestSupport",
                product("HTTPTypes", of: "swift-http-types", with: "Networking"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "LoopbackServerTests",
            dependencies: [
                "LoopbackServer", "TestSupport",
                product("AsyncHTTPClient", of: "async-http-client", with: "Networking"),
                product("NIOCore", of: "swift-nio", with: "Networking"),
                product("NIOPosix", of: "swift-nio", with: "Networking"),
                product("NIOHTTP1", of: "swift-nio", with: "Networking"),
                product("NIOHTTPCompression", of: "swift-nio-extras", with: "Networking"),
                product("NIOSSL", of: "swift-nio-ssl", with: "Networking"),
                product("HTTPTypes", of: "swift-http-types", with: "Networking"),
            ], swiftSettings: settings),
        .testTarget(
            name: "OperationsTestingTests", dependencies: ["Operations", "OperationsTesting", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "OperationsObservabilityTests",
            dependencies: [
                "Operations", "OperationsObservability", "OperationsTesting", "TestSupport",
                product("InMemoryLogging", of: "swift-log", with: "Logging"),
                product("MetricsTestKit", of: "swift-metrics", with: "Metrics"),
                product("InMemoryTracing", of: "swift-distributed-tracing", with: "Tracing"),
            ], swiftSettings: settings),
        .testTarget(
            name: "OperationsTraceTests",
            dependencies: ["Operations", "OperationsTesting", "OperationsTrace", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "AdoptionByModuleTests", dependencies: ["OperationsFoundation"], swiftSettings: adoptionSettings),
        .testTarget(
            name: "AdoptionByTypealiasTests", dependencies: ["Operations"], swiftSettings: adoptionSettings),
        .testTarget(
            name: "AdoptionWithXCTestTests", dependencies: ["OperationsFoundation"], swiftSettings: adoptionSettings),
        .testTarget(
            name: "AdoptionByClassImportTests", dependencies: ["Operations"], swiftSettings: adoptionSettings),
        .testTarget(
            name: "AdoptionBySelectorTests", dependencies: ["Operations"], swiftSettings: adoptionSettings),
        .testTarget(
            name: "AdoptionStylesTests", dependencies: ["OperationsFoundation"], swiftSettings: adoptionSettings),
        .testTarget(
            name: "WorkflowEngineTests", dependencies: ["WorkflowEngine", "TestSupport"], swiftSettings: settings),
    ]
)
