// swift-tools-version: 6.2
import Glibc
import PackageDescription

/// Debian: libtbb-dev. Where it is missing the contender is left out.
let hasOneTBB = access("/usr/include/tbb/flow_graph.h", R_OK) == 0

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    products: [.library(name: "BenchmarkReport", targets: ["BenchmarkReport"])],
    dependencies: [
        .package(name: "swift-operations", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        // The reports of these benchmarks, and of the benchmarks of other packages.
        .target(
            name: "BenchmarkReport",
            dependencies: [.product(name: "ArgumentParser", package: "swift-argument-parser")],
            swiftSettings: settings),
        .target(name: "CHeap"),
        .target(
            name: "COneTBB",
            cxxSettings: [.treatAllWarnings(as: .error)] + (hasOneTBB ? [.define("HAS_ONETBB")] : []),
            linkerSettings: hasOneTBB ? [.linkedLibrary("tbb")] : []),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "BenchmarkReport",
                "CHeap",
                "COneTBB",
                .product(name: "Operations", package: "swift-operations"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "InstructionCounts", dependencies: [.product(name: "Operations", package: "swift-operations")],
            swiftSettings: settings),
        .target(name: "CProfile"),
        .executableTarget(
            name: "Walk",
            dependencies: ["CProfile", .product(name: "Operations", package: "swift-operations")],
            swiftSettings: settings),
    ],
    cxxLanguageStandard: .cxx17
)
