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

let database = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let sqlite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let instrumentation = Target.Dependency.product(name: "Instrumentation", package: "swift-distributed-tracing")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")

let package = Package(
    name: "swift-operations-durable",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "OperationsDurable", targets: ["OperationsDurable"]),
        .library(name: "OperationsDurablePostgres", targets: ["OperationsDurablePostgres"]),
        .library(name: "DurableTesting", targets: ["DurableTesting"]),
        .executable(name: "durable", targets: ["durable"]),
    ],
    traits: [
        .trait(
            name: "Postgres",
            description: "OperationsDurablePostgres stores operations in PostgreSQL. Needs libpq (Debian: libpq-dev).")
    ],
    dependencies: [
        .package(name: "swift-operations", path: ".."),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        .target(name: "DurableCore", swiftSettings: settings),
        .target(
            name: "OperationsDurable",
            dependencies: [
                "DurableCore", operations("Operations"), database, sqlite, lifecycle, logging, instrumentation,
            ],
            swiftSettings: settings),
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        // Empty without the trait: nothing asks for libpq then.
        .target(
            name: "OperationsDurablePostgres",
            dependencies: [
                "DurableCore", "OperationsDurable", .target(name: "CPostgres", condition: .when(traits: ["Postgres"])),
            ],
            swiftSettings: settings),
        .target(name: "DurableTesting", dependencies: ["DurableCore", "OperationsDurable"], swiftSettings: settings),
        // The decisions of the command `durable`: selections, tables, JSON, addresses.
        .target(
            name: "DurableTool", dependencies: ["DurableCore", "OperationsDurable"], swiftSettings: settings),
        .executableTarget(
            name: "durable",
            dependencies: [
                "DurableCore", "DurableTool", "OperationsDurable", "OperationsDurablePostgres",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),
        // Compares the store with a bare loop of SQL: `swift run -c release DurableBenchmarks`.
        .executableTarget(
            name: "DurableBenchmarks",
            dependencies: [
                "OperationsDurable", "OperationsDurablePostgres", database,
                .target(name: "CPostgres", condition: .when(traits: ["Postgres"])),
            ],
            path: "Benchmarks",
            exclude: ["peers", "compare"], swiftSettings: settings),
        // Continues orders after two kills of its worker: `swift run Orders`.
        .executableTarget(
            name: "Orders", dependencies: ["OperationsDurable", database], path: "Examples/Orders",
            exclude: ["README.md"], swiftSettings: settings),
        // Two processes on one database of PostgreSQL: `Examples/TwoWorkers/run swift run --traits Postgres TwoWorkers`.
        .executableTarget(
            name: "TwoWorkers", dependencies: ["OperationsDurable", "OperationsDurablePostgres"],
            path: "Examples/TwoWorkers", exclude: ["README.md", "run"], swiftSettings: settings),
        // A worker that a test kills again and again.
        .executableTarget(
            name: "DurableCrashWorker", dependencies: ["DurablePoison", "OperationsDurable", database],
            path: "Tests/DurableCrashWorker", swiftSettings: settings),
        // The worker of the tests that need PostgreSQL. Empty without the trait.
        .executableTarget(
            name: "DurablePostgresWorker",
            dependencies: [
                "CShiftedClock", "DurablePoison", "OperationsDurable", "OperationsDurablePostgres", logging,
            ],
            path: "Tests/DurablePostgresWorker", swiftSettings: settings),
        // The worker of the session with the command `durable`.
        .executableTarget(
            name: "DurableSessionWorker", dependencies: ["OperationsDurable", "OperationsDurablePostgres"],
            path: "Tests/DurableSessionWorker", swiftSettings: settings),
        // The operation that ends the processes of both workers.
        .target(
            name: "DurablePoison", dependencies: ["OperationsDurable"], path: "Tests/DurablePoison",
            swiftSettings: settings),
        // A clock of the machine that a test moves, for one process.
        .target(name: "CShiftedClock", path: "Tests/CShiftedClock"),
        .testTarget(
            name: "DurableCoreTests", dependencies: ["DurableCore", "DurableTesting", operations("OperationsTesting")],
            swiftSettings: testSettings),
        .testTarget(
            name: "DurableToolTests",
            dependencies: ["DurableCore", "DurableTesting", "DurableTool", "OperationsDurable"],
            swiftSettings: testSettings),
        .testTarget(
            name: "OperationsDurableTests",
            dependencies: [
                "DurableCore", "DurableCrashWorker", "DurablePoison", "DurablePostgresWorker", "DurableTesting",
                "OperationsDurable", "OperationsDurablePostgres",
                .target(name: "CPostgres", condition: .when(traits: ["Postgres"])),
                operations("Operations"), operations("OperationsTesting"), database, sqlite, logging, instrumentation,
                lifecycle,
            ],
            swiftSettings: testSettings),
    ]
)
