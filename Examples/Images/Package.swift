// swift-tools-version: 6.2
import PackageDescription

// What takes a while to build, and libvips (Debian: libvips-dev), apart from the other examples: `swift run ImageLoading`.

let package = Package(
    name: "ImageExamples",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "swift-operations", path: "../..", traits: ["Networking", "Images"])],
    targets: [
        .executableTarget(
            name: "ImageLoading",
            dependencies: ["LoopbackServer", "Operations", "OperationsImages", "OperationsNetworking"].map { name in
                .product(name: name, package: "swift-operations")
            },
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
    ]
)
