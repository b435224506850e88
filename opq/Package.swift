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

/// A product that SwiftPM fetches and builds only with the trait `Fetch`.
func fetching(_ product: String, of package: String) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: ["Fetch"]))
}

let systemPackage = Target.Dependency.product(name: "SystemPackage", package: "swift-system")

let package = Package(
    name: "opq",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "opq", targets: ["opq"])],
    traits: [
        .trait(
            name: "Fetch",
            description: """
                `opq fetch`. Builds swift-operations-networking; needs the headers of SQLite and zlib (Debian: \
                libsqlite3-dev, zlib1g-dev).
                """),
        .trait(
            name: "Images", description: "`opq fetch --thumbnail`. Needs libvips (Debian: libvips-dev).",
            enabledTraits: ["Fetch"]),
        .trait(name: "Dashboard", description: "`opq run --serve` and `opq show --serve`: a page in the browser."),
    ],
    dependencies: [
        .package(name: "swift-operations", path: ".."),
        .package(
            name: "swift-operations-networking", path: "../Networking",
            traits: [.trait(name: "Images", condition: .when(traits: ["Images"]))]),
        .package(name: "swift-operations-dashboard", path: "../Dashboard", traits: []),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ],
    targets: [
        .target(name: "CProcess"),
        .target(
            name: "WorkflowEngine",
            dependencies: [
                "CProcess", operations("Operations"), operations("OperationsTimeline"), systemPackage,
                // For its module CYaml, the parser of libyaml.
                .product(name: "Yams", package: "Yams"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "opq",
            dependencies: [
                "CProcess", "WorkflowEngine", operations("Operations"), operations("OperationsTimeline"), systemPackage,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                fetching("OperationsNetworking", of: "swift-operations-networking"),
                fetching("OperationsImages", of: "swift-operations-networking"),
                .product(
                    name: "OperationsDashboard", package: "swift-operations-dashboard",
                    condition: .when(traits: ["Dashboard"])),
            ],
            swiftSettings: settings),
        // With a name of its own, because the folder of its builds also has the module of the tests of networking.
        .target(
            name: "WorkflowTestSupport", path: "Tests/TestSupport", exclude: ["Affinity.swift"],
            swiftSettings: settings),
        .testTarget(
            name: "WorkflowEngineTests",
            dependencies: ["WorkflowTestSupport", "WorkflowEngine", operations("Operations")],
            swiftSettings: testSettings),
    ]
)
