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
        ModuleLayers(module: "StrataStore", layers: ["Tables", "Reading", "Writing", "Store"]),
        ModuleLayers(module: "StrataMacros", layers: ["Declaration", "Diagnostics", "Expansion", "."]),
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

    init(layers: [String]) { self.layers = layers }

    /// - Returns: false when the file stands in none of the layers.
    mutating func add(_ path: String, layer: String, source: String) -> Bool {
        guard let index = layers.firstIndex(of: layer) else { return false }
        files.append((path, index, SourceTypes(source)))
        return true
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

    @Test(arguments: ModuleLayers.all) func everyFileUsesItsOwnLayerAndThoseBelow(module: ModuleLayers) throws {
        let directory = Self.root.appending(path: "Sources/\(module.module)")
        var check = LayerCheck(layers: module.layers)
        var found: Set<String> = []
        let paths = try FileManager.default.subpathsOfDirectory(atPath: directory.path(percentEncoded: false))
        for path in paths.filter({ $0.hasSuffix(".swift") }).sorted() {
            let layer = path.split(separator: "/").dropLast().first.map(String.init) ?? "."
            let source = try String(contentsOf: directory.appending(path: path), encoding: .utf8)
            found.insert(layer)
            #expect(
                check.add("Sources/\(module.module)/\(path)", layer: layer, source: source),
                "\(path) stands in no layer of \(module.module).")
        }
        #expect(found == Set(module.layers))
        for reference in check.upwardReferences() { Issue.record("\(reference)") }
    }

    @Test func aTypeOfAnUpperLayerIsFoundWhereItIsUsed() {
        var check = LayerCheck(layers: ["Low", "High"])
        #expect(check.add("High/House.swift", layer: "High", source: "package final class House { enum Room {} }"))
        #expect(
            check.add("High/Yard.swift", layer: "High", source: "private struct Key {}\nstruct Yard { let x: House }"))
        #expect(
            check.add(
                "Low/Stone.swift", layer: "Low",
                source: #"""
                    // House
                    /* Yard /* nested */ House */
                    struct Stone { let key: Key; let room: Other.House; let text = "House \(Yard.self) \"House" }
                    """#))
        #expect(
            check.add(
                "Low/Door.swift", layer: "Low",
                source: ##"struct Door { struct Yard {}; let yard: Yard; let text = #"House"#; let house: [House] }"##))
        #expect(!check.add("Else/Where.swift", layer: "Else", source: ""))
        #expect(
            check.upwardReferences() == [
                UpwardReference(file: "Low/Stone.swift", type: "Yard", layer: "High"),
                UpwardReference(file: "Low/Door.swift", type: "House", layer: "High"),
            ])
    }
}
