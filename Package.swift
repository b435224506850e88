// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "swift-operations",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Operations", targets: ["Operations"]),
        .library(name: "OperationsFoundation", targets: ["OperationsFoundation"]),
    ],
    targets: [
        .target(name: "CPlatform"),
        .target(name: "SchedulerCore", swiftSettings: settings),
        .target(name: "Operations", dependencies: ["CPlatform", "SchedulerCore"], swiftSettings: settings),
        .target(name: "OperationsFoundation", dependencies: ["Operations"], swiftSettings: settings),
        .testTarget(name: "SchedulerCoreTests", dependencies: ["SchedulerCore"], swiftSettings: settings),
        .testTarget(name: "OperationsTests", dependencies: ["Operations", "SchedulerCore"], swiftSettings: settings),
        .testTarget(
            name: "OperationsStressTests", dependencies: ["Operations", "SchedulerCore"], swiftSettings: settings),
        .testTarget(
            name: "OperationsFoundationTests", dependencies: ["OperationsFoundation"], swiftSettings: settings),
    ]
)
