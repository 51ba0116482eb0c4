import Foundation
import Testing

/// The layers of a module: its top-level folders, the lowest first. A file uses types of its own layer and of those
/// below it.
///
/// To hold the layers of another module, add it to `all`. Every folder of the module must be listed; files beside the
/// folders are a layer of their own, named ".".
struct ModuleLayers: Sendable, CustomTestStringConvertible {
    let module: String
    let layers: [String]

    static let all = [
        ModuleLayers(
            module: "LMDB",
            layers: [
                "Errors", "Locks", "Files", "Pages", "Seals", "Environment", "Transactions", "Cursors", "Upkeep",
            ]),
        ModuleLayers(
            module: "StrataModel", layers: ["Values", "Predicates", "Requests", "Model", "Schema", "Records"]),
        ModuleLayers(
            module: "StrataXcode", layers: ["XML", "Archives", "Codecs", "Reading", "Writing", "Bundles", "Generation"]),
        ModuleLayers(module: "StrataStore", layers: ["Tables", "Reading", "Writing", "Store"]),
        ModuleLayers(
            module: "StrataGraph", layers: ["History", "Graph", "Requests", "Results", "Batch", "Container"]),
        ModuleLayers(module: "StrataCoreData", layers: ["SQLite", "Archive", "Source", "Transfer", "Export"]),
        ModuleLayers(
            module: "StrataShipping",
            layers: ["Targets", "Format", "Restoring", "Shipping", "Following", "Container"]),
        ModuleLayers(module: "StrataMacros", layers: ["Declaration", "Diagnostics", "Expansion", "."]),
        ModuleLayers(
            module: "StrataInspector",
            layers: ["Output", "Input", "Query", "Change", "Import", "Export", "Commands", "Studio", "."]),
    ]

    var testDescription: String { module }
}

/// One file that uses a type of a layer above its own.
struct UpwardReference: Equatable, CustomStringConvertible {
    let file: String
    let type: String
    let layer: String

    var description: String { "\(file) uses \(type) of the layer \(layer) above it" }
}

/// What the files of one module declare and use, by layer.
struct LayerCheck {
    private var files: [(path: String, layer: Int, types: SourceTypes)] = []
    private let layers: [String]
    /// Files in none of the layers.
    private(set) var strays: [String] = []

    init(layers: [String]) { self.layers = layers }

    mutating func add(_ path: String, layer: String, _ types: SourceTypes) {
        guard let index = layers.firstIndex(of: layer) else { return strays.append(path) }
        files.append((path, index, types))
    }

    /// A name that several layers declare stands for the type of the lowest.
    func upwardReferences() -> [UpwardReference] {
        var homes: [String: Int] = [:]
        for file in files {
            for type in file.types.declared { homes[type] = min(homes[type] ?? .max, file.layer) }
        }
        return files.flatMap { file in
            file.types.named.sorted().compactMap { type in
                guard let home = homes[type], home > file.layer else { return nil }
                return UpwardReference(file: file.path, type: type, layer: layers[home])
            }
        }
    }
}

@Suite struct LayerTests {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// By path below `Sources`.
    private static let sources = Result {
        let directory = root.appending(path: "Sources")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: directory.path(percentEncoded: false))
        return try Dictionary(
            uniqueKeysWithValues: paths.filter { $0.hasSuffix(".swift") }.map { path in
                (path, SourceTypes(try String(contentsOf: directory.appending(path: path), encoding: .utf8)))
            })
    }

    @Test(arguments: ModuleLayers.all) func everyFileUsesItsOwnLayerAndThoseBelow(module: ModuleLayers) throws {
        var check = LayerCheck(layers: module.layers)
        var found: Set<String> = []
        for (path, types) in try Self.sources.get().sorted(by: { $0.key < $1.key }) {
            let folders = path.split(separator: "/").dropLast().map(String.init)
            guard folders[0] == module.module else { continue }
            let layer = folders.dropFirst().first ?? "."
            found.insert(layer)
            check.add(path, layer: layer, types)
        }
        #expect(check.strays.isEmpty && found == Set(module.layers))
        for reference in check.upwardReferences() { Issue.record("\(reference)") }
    }

    @Test func everyTypeHasANameOfItsOwn() throws {
        var homes: [String: [String]] = [:]
        for (path, types) in try Self.sources.get() {
            for type in types.declared { homes[type, default: []].append(path) }
        }
        for (type, paths) in homes where paths.count > 1 {
            Issue.record("\(type) is declared by \(paths.sorted().joined(separator: " and by ")).")
        }
    }

    @Test func aTypeOfAnUpperLayerIsFoundWhereItIsUsed() {
        var check = LayerCheck(layers: ["Low", "High"])
        check.add("High/House.swift", layer: "High", SourceTypes("package final class House { enum Room {} }"))
        check.add("High/Yard.swift", layer: "High", SourceTypes("private struct Key {}\nstruct Yard { let x: House }"))
        let stone = #"""
            // House
            /* Yard /* nested */ House */
            struct Stone { let key: Key; let room: Other.House; let text = "House \(Yard.self) \"House" }
            """#
        check.add("Low/Stone.swift", layer: "Low", SourceTypes(stone))
        let door = ##"struct Door { struct Yard {}; let yard: Yard; let text = #"House"#; let house: [House] }"##
        check.add("Low/Door.swift", layer: "Low", SourceTypes(door))
        check.add("Else/Where.swift", layer: "Else", SourceTypes(""))
        #expect(check.strays == ["Else/Where.swift"])
        #expect(
            check.upwardReferences() == [
                UpwardReference(file: "Low/Stone.swift", type: "Yard", layer: "High"),
                UpwardReference(file: "Low/Door.swift", type: "House", layer: "High"),
            ])
    }
}
