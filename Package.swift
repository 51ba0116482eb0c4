// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

// STRATA_CORE_ONLY=1 leaves the macros and everything behind them out of the graph of targets: a debug build
// without swift-syntax is a minute and a half shorter. Only for working on the layers below the macros.
let coreOnly = Context.environment["STRATA_CORE_ONLY"] != nil

// STRATA_TESTS=StrataStoreTests (or several, with commas) leaves the other suites out: building them takes longer than
// building the library. An empty list leaves out all of them, and the code generator that one of them runs, which is
// built with every product otherwise.
let chosenSuites = Context.environment["STRATA_TESTS"].map { $0.split(separator: ",").map(String.init) }

// CI=1, as `.ci/run` sets it, has warnings as errors.
let isChecked = Context.environment["CI"] != nil

let settings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ] + (isChecked ? [.treatAllWarnings(as: .error)] : [])

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

var products: [Product] = [
    .library(name: "StrataGraph", targets: ["StrataGraph"]),
    .library(name: "StrataXcode", targets: ["StrataXcode"]),
    .library(name: "StrataCoreData", targets: ["StrataCoreData"]),
    .library(name: "StrataInspector", targets: ["StrataInspector"]),
    .library(name: "StrataBuckets", targets: ["StrataBuckets"]),
    .library(name: "StrataShipping", targets: ["StrataShipping"]),
    .library(name: "StrataPostgres", targets: ["StrataPostgres"]),
    .library(name: "StrataObservability", targets: ["StrataObservability"]),
    .executable(name: "strata", targets: ["strata"]),
    .executable(name: "strata-s3", targets: ["strata-s3"]),
    .plugin(name: "StrataModels", targets: ["StrataModels"]),
]

var targets: [Target] = [
    .systemLibrary(
        name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .target(name: "CChecksum"),
    .target(name: "Locking"),
    .target(name: "CLMDBCalls", dependencies: ["CLMDB"]),
    .target(name: "LMDB", dependencies: ["CLMDB", "CLMDBCalls", "CChecksum", "Locking"]),
    .target(name: "StrataModel", dependencies: ["Locking"]),
    .target(name: "StrataStore", dependencies: ["LMDB", "StrataModel", "Locking", crypto, logging]),
    .target(name: "StrataXcode", dependencies: ["StrataModel"]),
    .target(name: "StrataGraph", dependencies: ["StrataStore", "StrataModel", "Locking"]),
    .target(name: "StrataCoreData", dependencies: ["StrataGraph", "StrataStore", "StrataModel", "StrataXcode"]),
    .target(
        name: "StrataShipping",
        dependencies: ["StrataGraph", "StrataStore", "StrataModel", "Locking", crypto]),
    .testTarget(
        name: "StrataShippingTests",
        dependencies: [
            "StrataShipping", "StrataBuckets", "StrataGraph", "StrataStore", "StrataModel", "Locking",
            "StrataTestSupport", "strata", "strata-s3", "graph-child",
        ]),
    // Buckets of S3 as targets. Only this target needs an HTTP client, Foundation's.
    .target(name: "StrataBuckets", dependencies: ["StrataShipping", "StrataModel", "Locking", crypto]),
    // Metrics, traces, and the container as a service. Only this target needs their packages.
    .target(
        name: "StrataObservability",
        dependencies: [
            "StrataGraph", "StrataModel", logging,
            .product(name: "Metrics", package: "swift-metrics"),
            .product(name: "Tracing", package: "swift-distributed-tracing"),
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        ]),
    .testTarget(
        name: "StrataObservabilityTests",
        dependencies: [
            "StrataObservability", "StrataGraph", "StrataModel", "StrataTestSupport", logging,
            .product(name: "MetricsTestKit", package: "swift-metrics"),
            .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        ]),
    // Shared logs in PostgreSQL. libpq is loaded at run time, so nothing else needs it.
    .target(
        name: "StrataPostgres", dependencies: ["StrataGraph", "StrataStore", "StrataModel", "Locking"]),
    .testTarget(
        name: "StrataPostgresTests",
        dependencies: [
            "StrataPostgres", "StrataGraph", "StrataStore", "StrataModel", "StrataShipping", "LMDB",
            "StrataTestSupport", "Locking", "race-child",
        ],
        exclude: ["Tables"]),
    .target(
        name: "StrataInspector",
        dependencies: [
            "StrataGraph", "StrataStore", "StrataModel", "StrataXcode", "StrataCoreData", "StrataShipping",
            "StrataPostgres", "Locking", argumentParser, logging,
        ]),
    .executableTarget(name: "strata", dependencies: ["StrataInspector"]),
    .executableTarget(name: "strata-s3", dependencies: ["StrataInspector", "StrataBuckets"]),
    .target(
        name: "StrataTestSupport",
        dependencies: ["StrataGraph", "StrataStore", "StrataModel", "StrataXcode", "Locking"],
        path: "Tests/StrataTestSupport"),
    .executableTarget(
        name: "lmdb-child", dependencies: ["LMDB", "Locking", "FaultShim"], path: "Tests/lmdb-child"),
    .testTarget(name: "LMDBTests", dependencies: ["LMDB", "CChecksum", "Locking", "StrataTestSupport", "lmdb-child"]),
    .testTarget(name: "StrataModelTests", dependencies: ["StrataModel", "StrataTestSupport"]),
    .executableTarget(
        name: "store-crash-child",
        dependencies: [
            "StrataInspector", "StrataShipping", "StrataGraph", "StrataStore", "StrataModel", "Locking",
            "StrataTestSupport", "FaultShim", argumentParser,
        ],
        path: "Tests/store-crash-child"),
    .target(
        name: "FaultShim", path: "Tests/fault-shim", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    .executableTarget(
        name: "store-fault-child",
        dependencies: ["StrataGraph", "StrataStore", "StrataModel", "StrataTestSupport", "FaultShim"],
        path: "Tests/store-fault-child"),
    .testTarget(
        name: "StrataStoreTests",
        dependencies: [
            "StrataStore", "StrataModel", "LMDB", "Locking", "StrataTestSupport", "store-crash-child",
            "store-fault-child", crypto,
        ]),
    .executableTarget(
        name: "race-child",
        dependencies: ["StrataGraph", "StrataPostgres", "StrataStore", "StrataModel", "StrataTestSupport"],
        path: "Tests/race-child"),
    .executableTarget(
        name: "count-child", dependencies: ["StrataGraph", "StrataStore", "StrataModel", "FaultShim"],
        path: "Tests/count-child"),
    .executableTarget(name: "graph-child", dependencies: ["StrataGraph", "StrataModel"], path: "Tests/graph-child"),
    .testTarget(
        name: "StrataGraphTests",
        dependencies: [
            "StrataGraph", "StrataStore", "StrataModel", "LMDB", "Locking", "StrataTestSupport", "race-child",
            "graph-child", "count-child",
        ]),
    .executableTarget(name: "strata-generate", dependencies: ["StrataXcode", "StrataModel"]),
    .plugin(name: "StrataModels", capability: .buildTool(), dependencies: ["strata-generate"]),
    .testTarget(
        name: "StrataXcodeTests",
        dependencies: ["StrataXcode", "StrataGraph", "StrataStore", "StrataModel", "StrataTestSupport"],
        exclude: ["Films.xcdatamodeld"], plugins: ["StrataModels"]),
    .target(
        name: "StrataCoreDataFixtures", dependencies: ["StrataCoreData", "StrataModel", "StrataXcode"],
        path: "Tests/StrataCoreDataFixtures"),
    .testTarget(
        name: "StrataCoreDataTests",
        dependencies: [
            "StrataCoreData", "StrataGraph", "StrataStore", "StrataModel", "StrataXcode", "StrataTestSupport",
            "StrataCoreDataFixtures",
        ]),
    .testTarget(
        name: "StrataInspectorTests",
        dependencies: [
            "StrataInspector", "StrataGraph", "StrataStore", "StrataModel", "LMDB", "Locking", "strata",
            "StrataTestSupport", "StrataCoreData", "StrataCoreDataFixtures", "strata-s3", argumentParser,
        ],
        exclude: ["Help"]),
]

var dependencies: [Package.Dependency] = [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
]

if !coreOnly {
    products.append(.library(name: "Strata", targets: ["Strata"]))
    dependencies.append(.package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"))
    targets += [
        .target(name: "Strata", dependencies: ["StrataGraph", "StrataModel", "StrataMacros"]),
        .macro(
            name: "StrataMacros",
            dependencies: [
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
                .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
            ]),
        // The tests of macros use a library of the same files: a test that depends on the macro itself is built for the
        // host, and all other tests and libraries with it, besides once for the target (SwiftPM 6.3).
        .target(
            name: "StrataMacrosParts",
            dependencies: [.product(name: "SwiftSyntaxMacros", package: "swift-syntax")],
            path: "Tests/Macros/StrataMacros", exclude: ["Plugin.swift"]),
        .testTarget(
            name: "StrataMacrosTests",
            dependencies: [
                "StrataMacrosParts", "StrataModel",
                .product(name: "SwiftSyntaxMacrosGenericTestSupport", package: "swift-syntax"),
            ]),
        .executableTarget(
            name: "damage-child", dependencies: ["Strata", "StrataStore", "StrataModel", "StrataTestSupport"],
            path: "Tests/damage-child"),
        .testTarget(
            name: "StrataTests",
            dependencies: [
                "Strata", "StrataBuckets", "StrataCoreData", "StrataObservability", "StrataPostgres", "StrataShipping",
                "StrataXcode", "StrataTestSupport", "damage-child",
            ]),
    ]
    // The worked examples are programs of a package of their own; under other names they are built here once more, so
    // that the suite runs them. What it asks of their classes it asks of libraries from the same files without the
    // program: a test that imports an executable's module is not built after it, where a test of macros is in the
    // package (SwiftPM 6.3), and fails now and then.
    let stories = ["BowTies": "StrataGraph", "LetsEat": "Strata", "MustC": "Strata", "Photorama": "Strata"]
    let libraries = ["LetsEat", "MustC", "Photorama"]
    targets += stories.sorted { $0.key < $1.key }.map { story, library in
        .executableTarget(
            name: "\(story)Story",
            dependencies: [.target(name: library), "StrataModel", "StrataPostgres", argumentParser],
            path: "Examples/Sources/\(story)")
    }
    targets += libraries.map { story in
        .target(
            name: "\(story)Parts", dependencies: ["Strata"], path: "Tests/Stories/\(story)",
            exclude: ["\(story)Demo.swift"] + (story == "MustC" ? ["Nodes"] : []))
    }
    targets.append(
        .testTarget(
            name: "ExamplesTests",
            dependencies: ["Strata", "strata", "StrataInspector", "StrataPostgres", "StrataTestSupport"]
                + libraries.map { .target(name: "\($0)Parts") }
                + stories.keys.sorted().map { .target(name: "\($0)Story") }))
}

if let chosenSuites { targets.removeAll { $0.type == .test && !chosenSuites.contains($0.name) } }

for target in targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = settings
}

let package = Package(
    name: "Strata",
    platforms: [.macOS(.v15)],
    products: products,
    dependencies: dependencies,
    targets: targets)
