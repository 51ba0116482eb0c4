import Foundation
import StrataGraph
import Testing

/// What a context and its objects hold is written by its owner alone. `private(set)` holds most of it; here the sources
/// are searched for the rest.
@Suite struct OwnershipTests {
    private static let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources/StrataGraph", directoryHint: .isDirectory)

    /// The code lines of every source file of the module, by file name.
    private static func lines() throws -> [(file: String, line: String)] {
        let files =
            FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)?
            .compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" } ?? []
        #expect(files.count > 100)
        return try files.flatMap { file in
            try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
                .filter { !$0.drop { $0 == " " }.hasPrefix("//") }.map { (file.lastPathComponent, $0) }
        }
    }

    private func offences(_ pattern: String, allowedIn owners: Set<String>) throws -> [String] {
        let expression = try Regex(pattern)
        return try Self.lines().filter { !owners.contains($0.file) && $0.line.firstMatch(of: expression) != nil }
            .map { "\($0.file): \($0.line)" }
    }

    @Test func onlyTheLifeOfAnObjectWritesItsState() throws {
        let write =
            #"\b_(state|flags)(\s*([|&^]?=)(?!=)|\.(insert|remove|subtract|formUnion|formSymmetricDifference)\()"#
        // The initializer takes the state of the seed; the property has a default.
        let found = try offences(write, allowedIn: ["ObjectLife.swift", "ManagedObject.swift"])
        #expect(found == [])
    }

    @Test func onlyAMoveOrAResetChangesWhereAContextStands() throws {
        let owners: Set<String> = [
            "Standpoint.swift", "ContextMove.swift", "ManagedObjectContext.swift",
            "ManagedObjectContext+Dropping.swift", "ManagedObjectContext+Children.swift",
        ]
        #expect(try offences(#"standpoint(\.(move|stand)\(|\s*=(?!=))"#, allowedIn: owners) == [])
    }

    @Test(arguments: [
        ("pending", "PendingChanges"), ("pendingLinks", "PendingLinks"), ("layers", "PendingLayers"),
    ])
    func onlyItsOwnerReplacesWhatIsPending(_ property: String, _ type: String) throws {
        let owners: Set<String> = ["ManagedObjectContext.swift", "PendingLayers.swift"]
        #expect(try offences(#"\b\#(property) = \#(type)\("#, allowedIn: owners) == [])
    }

    @Test func aContextHasFewStoredProperties() throws {
        let body = try Self.lines().filter { $0.file == "ManagedObjectContext.swift" }.map(\.line)
        let stored = body.filter { line in
            line.hasPrefix("    ") && !line.hasPrefix("     ")
                && line.firstMatch(of: #/\b(let|var) \w+/#) != nil
                && !(line.hasSuffix("{") && !line.contains("= ") && !line.contains("?")) && !line.contains("{ ")
        }.filter { !$0.contains("static") }
        // A property with accessors ends its line with a brace; `undoManager` has observers and counts.
        let computed = stored.filter { $0.hasSuffix("{") && !$0.contains("undoManager") }
        #expect(stored.count - computed.count <= 22, "\(stored)")
        #expect(stored.count - computed.count >= 15)
    }
}
