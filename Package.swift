// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// The settings of tests. The macros of Swift Testing are slow, and each batch of files expands those of the whole module: with one
/// batch in place of two, the compiler takes half the time. In release only the library is optimized, not its tests.
let testSettings: [SwiftSetting] =
    settings + [
        .unsafeFlags(["-driver-batch-count", "1"], .when(configuration: .debug)),
        .unsafeFlags(["-Onone"], .when(configuration: .release)),
    ]

/// The settings of code that comes to this project from Foundation: a warning fails the build.
let adoptionSettings: [SwiftSetting] = testSettings + [.treatAllWarnings(as: .error)]

/// A product that SwiftPM fetches and builds only with the trait.
func product(_ name: String, of package: String, with trait: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: [trait]))
}

/// The tests of `Operations`, in several modules. The compiler takes more than twice the time for a module with twice as many
/// macros. The folder `Support` is a link in one folder of each module.
let operationsTests: KeyValuePairs = [
    "OperationsFlowTests": ["Flow"],
    "OperationsKindsTests": ["Kinds", "Misuse"],
    "OperationsQueueTests": ["Observability", "Priority", "Queue"],
    "OperationsWorkersTests": ["Gates", "Policies", "Workers"],
    "OperationsObservingTests": ["Observing"],
]

let package = Package(
    name: "swift-operations",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Operations", targets: ["Operations"]),
        .library(name: "KeyValueObserving", targets: ["KeyValueObserving"]),
        .library(name: "OperationsFoundation", targets: ["OperationsFoundation"]),
        .library(name: "OperationsCombine", targets: ["OperationsCombine"]),
        .library(name: "OperationsObservability", targets: ["OperationsObservability"]),
        .library(name: "OperationsTesting", targets: ["OperationsTesting"]),
        .library(name: "OperationsTimeline", targets: ["OperationsTimeline"]),
    ],
    traits: [
        .trait(
            name: "Combine",
            description: "OperationsCombine, where a queue is a scheduler of OpenCombine. Fetches OpenCombine."),
        .trait(
            name: "Lifecycle",
            description: "OperationsObservability: a queue as a Service. Fetches swift-service-lifecycle."),
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
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", .upToNextMinor(from: "0.14.0")),
    ],
    targets: [
        .target(name: "CPlatform"),
        .target(name: "OperationsPrimitives", swiftSettings: settings),
        .target(name: "SchedulerCore", dependencies: ["OperationsPrimitives"], swiftSettings: settings),
        .target(
            name: "KeyValueObserving", dependencies: ["CPlatform", "OperationsPrimitives"], swiftSettings: settings),
        .target(
            name: "Operations",
            dependencies: ["CPlatform", "KeyValueObserving", "OperationsPrimitives", "SchedulerCore"],
            swiftSettings: settings),
        .target(
            name: "OperationsFoundation", dependencies: ["KeyValueObserving", "Operations"], swiftSettings: settings),
        .target(
            name: "OperationsCombine",
            dependencies: [
                "Operations", "OperationsPrimitives", product("OpenCombine", of: "OpenCombine", with: "Combine"),
            ], swiftSettings: settings),
        .target(
            name: "OperationsObservability",
            dependencies: [
                "Operations",
                product("ServiceLifecycle", of: "swift-service-lifecycle", with: "Lifecycle"),
                product("Logging", of: "swift-log", with: "Logging"),
                product("Metrics", of: "swift-metrics", with: "Metrics"),
                product("Tracing", of: "swift-distributed-tracing", with: "Tracing"),
            ], swiftSettings: settings),
        .target(
            name: "OperationsTesting", dependencies: ["Operations", "OperationsPrimitives"], swiftSettings: settings),
        .target(
            name: "OperationsTimeline", dependencies: ["KeyValueObserving", "Operations", "OperationsPrimitives"],
            swiftSettings: settings),
        .target(name: "CAllocator", path: "Tests/CAllocator"),
        .target(name: "CTestRun", path: "Tests/CTestRun"),
        .target(
            name: "TestSupport", dependencies: ["CTestRun"], path: "Tests/TestSupport", swiftSettings: settings),
        .testTarget(
            name: "OperationsPrimitivesTests", dependencies: ["OperationsPrimitives", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "SchedulerCoreTests", dependencies: ["SchedulerCore", "TestSupport"], swiftSettings: testSettings),
        .testTarget(
            name: "KeyValueObservingTests", dependencies: ["KeyValueObserving", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "OperationsStressTests",
            dependencies: [
                "CAllocator", "KeyValueObserving", "Operations", "OperationsFoundation", "OperationsTesting",
                "OperationsTimeline", "SchedulerCore", "TestSupport",
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "OperationsFoundationTests",
            dependencies: ["OperationsFoundation", "OperationsTesting", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "OperationsCombineTests",
            dependencies: [
                "OperationsCombine", "OperationsFoundation", "OperationsTesting", "TestSupport",
                product("OpenCombine", of: "OpenCombine", with: "Combine"),
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "OperationsTestingTests", dependencies: ["Operations", "OperationsTesting", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "OperationsObservabilityTests",
            dependencies: [
                "Operations", "OperationsObservability", "OperationsTesting", "TestSupport",
                product("ServiceLifecycle", of: "swift-service-lifecycle", with: "Lifecycle"),
                product("InMemoryLogging", of: "swift-log", with: "Logging"),
                product("MetricsTestKit", of: "swift-metrics", with: "Metrics"),
                product("InMemoryTracing", of: "swift-distributed-tracing", with: "Tracing"),
            ], swiftSettings: testSettings),
        .testTarget(
            name: "OperationsTimelineTests",
            dependencies: ["Operations", "OperationsTesting", "OperationsTimeline", "TestSupport"],
            swiftSettings: testSettings),
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
    ]
        + operationsTests.map { name, folders in
            .testTarget(
                name: name, dependencies: ["Operations", "SchedulerCore", "TestSupport"], path: "Tests/OperationsTests",
                exclude: operationsTests.flatMap(\.value).filter { !folders.contains($0) } + ["Support"],
                sources: folders, swiftSettings: testSettings)
        }
)

// The plugin that builds the documentation site. The variable keeps it away from packages that depend on this one.
if Context.environment["OPERATIONS_DOCUMENTATION"] != nil {
    package.dependencies.append(.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"))
}
