import Foundation
import StrataModel
import StrataStore

/// A directory for a store, removed at the end.
final class ErasureFolder {
    let url = FileManager.default.temporaryDirectory.appending(component: "erase-\(UUID().uuidString)")
    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(at: url) }

    var store: URL { url.appending(component: "Test.strata", directoryHint: .isDirectory) }

    /// The files in which one of the texts occurs, with how often.
    func scan(for texts: [String]) throws -> [String: Int] {
        var found: [String: Int] = [:]
        let files = FileManager.default.enumerator(at: url, includingPropertiesForKeys: [.isRegularFileKey])
        while let file = files?.nextObject() as? URL {
            guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else { continue }
            let data = try Data(contentsOf: file)
            for text in texts {
                var range = data.startIndex..<data.endIndex
                while let hit = data.range(of: Data(text.utf8), in: range) {
                    found[file.lastPathComponent, default: 0] += 1
                    range = hit.upperBound..<data.endIndex
                }
            }
        }
        return found
    }
}

/// What tests of erasures share.
enum ErasureFixture {
    static func note(_ reason: String = "asked for it") -> MaintenanceNote {
        MaintenanceNote(author: "dpo", metadata: ["strata.reason": reason])
    }

    static func model() throws -> ManagedObjectModel {
        var data = AttributeDescription(name: "picture", type: .binaryData, isOptional: true)
        data.allowsExternalBinaryDataStorage = true
        return try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Person",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string, isOptional: true)),
                    .attribute(AttributeDescription(name: "email", type: .string, isOptional: true)),
                    .attribute(AttributeDescription(name: "note", type: .string, isOptional: true)),
                    .attribute(AttributeDescription(name: "city", type: .string, defaultValue: .string("nowhere"))),
                    .attribute(AttributeDescription(name: "code", type: .string)),
                    .attribute(data),
                ],
                indexes: [
                    FetchIndexDescription(name: "byName", elements: [FetchIndexElement("name")]),
                    FetchIndexDescription(name: "byEmail", elements: [FetchIndexElement("email")]),
                ])
        ])
    }
}
