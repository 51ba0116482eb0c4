// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] =
    [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]
    + (Context.environment["CI"] != nil ? [.treatAllWarnings(as: .error)] : [])

let package = Package(
    name: "StrataBenchmarks",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "strata-bench", targets: ["strata-bench"])],
    dependencies: [
        .package(name: "Strata", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        // The peer "bare LMDB" calls the C library itself, without Strata's layer above it.
        .systemLibrary(
            name: "CLMDBBare", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .executableTarget(
            name: "strata-bench",
            dependencies: [
                "CLMDBBare", "CSQLite",
                .product(name: "StrataGraph", package: "Strata"),
                .product(name: "StrataPostgres", package: "Strata"),
                .product(name: "StrataShipping", package: "Strata"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ], swiftSettings: settings),
    ])
