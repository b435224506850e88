// swift-tools-version: 6.2
import PackageDescription

// A separate package, because it takes long to build and needs libvips (Debian: libvips-dev): `swift run ImageLoading`.

let package = Package(
    name: "ImageExamples",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "swift-operations", path: "../..", traits: ["Networking", "Images"])],
    targets: [
        .executableTarget(
            name: "ImageLoading",
            dependencies: ["HTTPTestServer", "Operations", "OperationsImages", "OperationsNetworking"].map { name in
                .product(name: name, package: "swift-operations")
            },
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
    ]
)
