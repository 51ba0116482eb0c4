import Foundation
import StrataModel
@testable import StrataStore
import Testing

/// Erasures: what they leave in the store, and that they leave no byte of a value in its files.
@Suite struct ErasureTests {
    /// A directory for a store, removed at the end.
    private final class Folder {
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

    private static func note(_ reason: String = "asked for it") -> MaintenanceNote {
        MaintenanceNote(author: "dpo", metadata: ["strata.reason": reason])
    }

    private func model() throws -> ManagedObjectModel {
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

    @Test func anErasedObjectLeavesNoByteOfItsValues() throws {
        let folder = try Folder()
        let fixture = try StoreFixture(.directory(folder.store), model: try model())
        var erased: [ObjectID] = []
        for person in 0..<300 {
            let isErased = person % 10 == 3
            let mark = isErased ? "Secret" : "Public"
            let id = try fixture.insert(
                "Person",
                [
                    "name": .string("\(mark)Näme\(person)"), "email": .string("\(mark)Mail\(person)@x.org"),
                    "code": .string("\(mark)Code"), "note": .string(String(repeating: "\(mark)Note", count: 200)),
                ])
            if isErased { erased.append(id) }
        }
        for round in 0..<20 {
            for id in erased.prefix(10) {
                try fixture.update(
                    id, ["name": .string("SecretNäme\(round)"), "note": .string("SecretNote\(round)")])
            }
        }
        try fixture.delete(erased[5])
        let before = try fixture.store.head()
        let secrets = ["Secret", "SECRET", "secret"]
        #expect(try folder.scan(for: secrets)["data.mdb"] ?? 0 > 100)
        let report = try fixture.store.erase(ErasureRequest(objects: erased, note: Self.note()))
        #expect(report.waiting == [] && report.objects == erased.sorted() && report.deletedCount == 29)
        #expect(try folder.scan(for: secrets) == [:])
        #expect(try folder.scan(for: ["Public"])["data.mdb"] ?? 0 > 1000)
        // The past shows the objects without their values.
        let past = try #require(try fixture.values(erased[0], at: before))
        #expect(past["name"] == .null && past["code"] == .null)
        #expect(try fixture.values(erased[0]) == nil)
        let verified = try fixture.store.verify()
        #expect(verified.isSound, "\(verified.problems)")
        #expect(verified.erasedEventCount == report.eventCount && verified.erasures.count == 1)
        #expect(verified.erasures[0].transaction.author == "dpo")
        #expect(try fixture.store.rebuild().isUnchanged)
        #expect(try fixture.store.history(of: erased[0]).allSatisfy(\.isErased))
    }
}
