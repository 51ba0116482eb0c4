// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] =
    [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]
    + (Context.environment["CI"] != nil ? [.treatAllWarnings(as: .error)] : [])

// BowTies has the plain classes that `strata generate` makes of a model from Xcode; without macros a build of it alone
// leaves swift-syntax out. The others declare their entities with macros.
let library = ["BowTies": "StrataGraph", "LetsEat": "Strata", "MustC": "Strata", "Photorama": "Strata"]
let stories = library.keys.sorted()

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
                .product(name: library[story, default: "Strata"], package: "Strata"),
                .product(name: "StrataPostgres", package: "Strata"),
                // Only so that one build makes the tool too.
                .product(name: "strata", package: "Strata"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: settings)
    })
