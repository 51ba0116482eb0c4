// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] =
    [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]
    + (Context.environment["CI"] != nil ? [.treatAllWarnings(as: .error)] : [])

let stories = ["BowTies", "LetsEat", "MustC", "Photorama"]

let package = Package(
    name: "StrataExamples",
    platforms: [.macOS(.v15)],
    products: stories.map { .executable(name: $0, targets: [$0]) },
    dependencies: [
        .package(name: "Strata", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: stories.map { story in
        .executableTarget(
            name: story,
            dependencies: [
                .product(name: "Strata", package: "Strata"),
                // Only so that one build makes the tool too.
                .product(name: "strata", package: "Strata"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: settings)
    })
