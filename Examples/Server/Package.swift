// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] =
    [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]
    + (Context.environment["CI"] != nil ? [.treatAllWarnings(as: .error)] : [])

let strata = Target.Dependency.product(name: "Strata", package: "Strata")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let metrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")

// A package of its own, so that the other examples do not build a server.
let package = Package(
    name: "LetsEatServer",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "letseat-server", targets: ["letseat-server"]),
        .executable(name: "server-load", targets: ["server-load"]),
    ],
    dependencies: [
        .package(name: "Strata", path: "../.."),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.4"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .target(
            name: "LetsEatServer",
            dependencies: [
                strata, hummingbird, httpTypes, nioCore, logging, lifecycle, metrics,
                .product(name: "StrataObservability", package: "Strata"),
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
            ], swiftSettings: settings),
        .executableTarget(
            name: "letseat-server",
            dependencies: ["LetsEatServer", hummingbird, argumentParser, logging, metrics, nioCore],
            swiftSettings: settings),
        .executableTarget(
            name: "server-load",
            dependencies: [
                "LetsEatServer", argumentParser, hummingbird, logging, nioCore,
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ], swiftSettings: settings),
        .testTarget(
            name: "LetsEatServerTests",
            dependencies: [
                "LetsEatServer", strata, hummingbird, httpTypes, nioCore, logging, metrics,
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ], swiftSettings: settings),
    ])
