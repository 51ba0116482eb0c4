// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] =
    [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]
    + (Context.environment["CI"] != nil ? [.treatAllWarnings(as: .error)] : [])

let package = Package(
    name: "StrataExamples",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "BowTies", targets: ["BowTies"])],
    dependencies: [
        .package(name: "Strata", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        .executableTarget(
            name: "BowTies",
            dependencies: [
                .product(name: "Strata", package: "Strata"),
                // Only so that one build makes the tool too.
                .product(name: "strata", package: "Strata"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: settings)
    ])
