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

let operations = Target.Dependency.product(name: "Operations", package: "swift-operations")
let durable = Target.Dependency.product(
    name: "OperationsDurable", package: "swift-operations-durable", condition: .when(traits: ["Durable"]))
let durablePostgres = Target.Dependency.product(
    name: "OperationsDurablePostgres", package: "swift-operations-durable", condition: .when(traits: ["Durable"]))

func metrics(_ product: String) -> Target.Dependency {
    .product(name: product, package: "swift-metrics", condition: .when(traits: ["Metrics"]))
}

let package = Package(
    name: "swift-operations-dashboard",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "OperationsDashboard", targets: ["OperationsDashboard"]),
        .executable(name: "durable-serve", targets: ["durable-serve"]),
    ],
    traits: [
        .trait(name: "Durable", description: "Shows and steers durable stores. Needs the headers of SQLite."),
        .trait(name: "Postgres", description: "Builds Durable with its store in PostgreSQL. Needs libpq."),
        .trait(name: "Metrics", description: "Emits the numbers of the page as gauges of swift-metrics."),
        .trait(name: "Lifecycle", description: "Makes the dashboard a service of swift-service-lifecycle."),
    ],
    dependencies: [
        .package(name: "swift-operations", path: ".."),
        .package(
            name: "swift-operations-durable", path: "../Durable",
            traits: [.trait(name: "Postgres", condition: .when(traits: ["Postgres"]))]),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    ],
    targets: [
        // Decisions: requests, access, filters, the folding of graphs. No sockets and no queues.
        .target(name: "DashboardCore", swiftSettings: settings),
        .target(
            name: "OperationsDashboard",
            dependencies: [
                "DashboardCore", operations, durable,
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle",
                    condition: .when(traits: ["Lifecycle"])),
                metrics("CoreMetrics"),
            ],
            swiftSettings: settings),
        // The program behind the command `durable serve`. It needs this package, so the package of the command cannot contain it.
        .executableTarget(
            name: "durable-serve", dependencies: ["DashboardCore", "OperationsDashboard", durable, durablePostgres],
            swiftSettings: settings),
        // Queues to look at, also for the tests in a browser: `swift run Live`.
        .executableTarget(
            name: "Live", dependencies: ["OperationsDashboard", operations, durable], path: "Examples/Live",
            swiftSettings: settings),
        // The cost for a queue of tiny blocks: `swift run -c release DashboardCosts`.
        .executableTarget(
            name: "DashboardCosts", dependencies: ["OperationsDashboard", operations], path: "Benchmarks",
            swiftSettings: settings),
        .testTarget(name: "DashboardCoreTests", dependencies: ["DashboardCore"], swiftSettings: testSettings),
        .testTarget(
            name: "OperationsDashboardTests",
            dependencies: [
                "DashboardCore", "OperationsDashboard", operations, durable, metrics("CoreMetrics"),
                metrics("MetricsTestKit"),
            ],
            swiftSettings: testSettings),
    ]
)
