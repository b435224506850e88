// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// The settings of tests, as in the manifest of the root.
let testSettings = settings + [.unsafeFlags(["-driver-batch-count", "1"], .when(configuration: .debug))]

func operations(_ product: String) -> Target.Dependency { .product(name: product, package: "swift-operations") }
func nio(_ product: String) -> Target.Dependency { .product(name: product, package: "swift-nio") }

let asyncHTTPClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let http2 = Target.Dependency.product(name: "NIOHTTP2", package: "swift-nio-http2")
let hpack = Target.Dependency.product(name: "NIOHPACK", package: "swift-nio-http2")
let tls = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let database = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let systemPackage = Target.Dependency.product(name: "SystemPackage", package: "swift-system")

let package = Package(
    name: "swift-operations-networking",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "OperationsNetworking", targets: ["OperationsNetworking"]),
        .library(name: "OperationsImages", targets: ["OperationsImages"]),
    ],
    traits: [
        .trait(
            name: "Images",
            description: "OperationsImages decodes and scales by libvips. Needs libvips (Debian: libvips-dev).")
    ],
    dependencies: [
        .package(name: "swift-operations", path: ".."),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .target(name: "HTTPCore", dependencies: [httpTypes, crypto], swiftSettings: settings),
        .target(
            name: "HTTPCaching", dependencies: ["HTTPCore", httpTypes, crypto, database], swiftSettings: settings),
        .target(
            name: "OperationsNetworking",
            dependencies: [
                "HTTPCaching", "HTTPCore", "CZlib", operations("Operations"),
                asyncHTTPClient, nio("NIOConcurrencyHelpers"), nio("NIOCore"), nio("NIOPosix"), nio("NIOHTTP1"),
                nio("NIOFoundationCompat"), http2, hpack, tls,
                .product(name: "Tracing", package: "swift-distributed-tracing"), systemPackage, httpTypes, crypto,
            ],
            swiftSettings: settings + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CVips", pkgConfig: "vips", providers: [.apt(["libvips-dev"]), .brew(["vips"])]),
        // Empty without the trait: nothing asks for libvips then.
        .target(
            name: "CImageDecoding", dependencies: [.target(name: "CVips", condition: .when(traits: ["Images"]))],
            cSettings: [.define("IMAGES", .when(traits: ["Images"]))]),
        .target(
            name: "OperationsImages",
            dependencies: [
                "HTTPCaching", "HTTPCore", "OperationsNetworking", operations("Operations"), httpTypes,
                .target(name: "CImageDecoding", condition: .when(traits: ["Images"])),
            ],
            swiftSettings: settings),
        .target(
            name: "HTTPTestServer",
            dependencies: [
                nio("NIOCore"), nio("NIOPosix"), nio("NIOConcurrencyHelpers"), nio("NIOHTTP1"), http2,
                hpack, tls, httpTypes, crypto,
                .product(name: "X509", package: "swift-certificates"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
            ],
            path: "Tests/HTTPTestServer", swiftSettings: settings),
        // Loads images from a server of its own: `swift run --traits Images ImageLoading`.
        .executableTarget(
            name: "ImageLoading",
            dependencies: [
                "HTTPTestServer", "OperationsImages", "OperationsNetworking", operations("Operations"), httpTypes,
            ],
            path: "Examples/ImageLoading", swiftSettings: settings),
        .target(
            name: "TestSupport", path: "Tests/TestSupport", exclude: ["Affinity.swift"], swiftSettings: settings),
        .testTarget(
            name: "HTTPCoreTests", dependencies: ["HTTPCore", "TestSupport", httpTypes], swiftSettings: testSettings),
        .testTarget(
            name: "HTTPCachingTests", dependencies: ["HTTPCaching", "HTTPCore", "TestSupport", httpTypes, database],
            swiftSettings: testSettings),
        .testTarget(
            name: "OperationsNetworkingTests",
            dependencies: [
                "HTTPCaching", "HTTPCore", "HTTPTestServer", "OperationsNetworking", "TestSupport",
                operations("Operations"), operations("OperationsTesting"),
                asyncHTTPClient, nio("NIOCore"), nio("NIOHTTP1"), tls, httpTypes, crypto, systemPackage,
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "OperationsImagesTests",
            dependencies: [
                "HTTPCaching", "HTTPTestServer", "OperationsImages", "OperationsNetworking", "TestSupport",
                operations("Operations"), operations("OperationsTesting"), httpTypes,
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "HTTPTestServerTests",
            dependencies: [
                "HTTPTestServer", "TestSupport",
                asyncHTTPClient, nio("NIOCore"), nio("NIOPosix"), nio("NIOHTTP1"), tls, httpTypes,
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
            ],
            swiftSettings: testSettings),
    ]
)

// The plugin that builds the documentation site. The variable keeps it away from packages that depend on this one.
if Context.environment["OPERATIONS_DOCUMENTATION"] != nil {
    package.dependencies.append(.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"))
}
