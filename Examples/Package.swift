// swift-tools-version: 6.2
import PackageDescription

// One small program for each pattern. Run one with `swift run Dependencies`.

let names = [
    "SynchronousSubclass", "AsynchronousSubclass", "Dependencies", "SerialQueue", "HandOverToMain", "TicketWindows",
    "Observing", "AsyncWork", "AsyncWrappers", "OutcomesAndGroups", "SharedResources", "Limits", "Watching",
    "Crawler", "BoundedProducer", "RowImport", "Pipeline", "Periodic", "TestWithoutTime",
    "Tutorial1", "Tutorial2", "Tutorial3", "Tutorial4", "Tutorial5", "Tutorial6", "Tutorial7",
]

let libraries = ["Operations", "OperationsFoundation", "OperationsTesting", "OperationsTimeline"]

let package = Package(
    name: "Examples",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "swift-operations", path: "..")],
    targets: names.map { name in
        .executableTarget(
            name: name,
            dependencies: libraries.map { .product(name: $0, package: "swift-operations") },
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
    }
)
