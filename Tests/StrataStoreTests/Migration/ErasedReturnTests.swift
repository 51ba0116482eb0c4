import Foundation
import StrataModel
import StrataStore
import Testing

/// What was erased under one model does not come back with another.
struct ErasedReturnTests {
    private let store = MigratedStore()

    /// A has everything. I has `code` as a number and no links, N nothing but notes, E not even the entity of people.
    private func model(_ name: Character) throws -> ManagedObjectModel {
        let note = Describe.attribute("note", optional: true)
        let code = Describe.attribute(
            "code", name == "I" ? .integer64 : name == "D" ? .double : .string, optional: true)
        let links = [
            Describe.toOne("boss", "Person", inverse: "staff"),
            Describe.toMany("staff", "Person", inverse: "boss", ordered: true),
            Describe.toMany("friends", "Person", inverse: "friends"), Describe.toMany("idols", "Person"),
        ]
        let toOne = name == "A" ? [Describe.toOne("author", "Person")] : []
        let person = EntityDescription(
            name: "Person", properties: [note] + (name == "N" ? [] : [code]) + (name == "A" ? links : []))
        return try ManagedObjectModel(
            entities: [EntityDescription(name: "Note", properties: [note] + toOne)] + (name == "E" ? [] : [person]))
    }

    private func fill(_ fixture: StoreFixture) throws -> (people: [ObjectID], note: ObjectID) {
        let people = try ["7001", "7002", "7003"].map {
            try fixture.insert("Person", ["code": .string($0), "note": .string("note")])
        }
        try fixture.update(people[0], ["boss": .objectID(people[1])])
        try fixture.update(people[1], ["boss": .objectID(people[2])])
        for relationship in ["friends", "idols"] {
            try fixture.link(people[0], relationship, people[1])
            try fixture.link(people[1], relationship, people[2])
            try fixture.link(people[2], relationship, people[0])
        }
        return (people, try fixture.insert("Note", ["author": .objectID(people[1])]))
    }

    private func expectGone(_ text: String) throws {
        for file in try FileManager.default.contentsOfDirectory(at: store.url, includingPropertiesForKeys: nil) {
            try #expect(
                Data(contentsOf: file).range(of: Data(text.utf8)) == nil, "\(text) is in \(file.lastPathComponent)")
        }
    }

    /// `code` is erased in one object under the second model, where it may be a number.
    @Test(arguments: ["AIA", "AINA", "AIDA", "AIEA", "ANIA", "AAIA"]) func anErasedValueStaysAway(path: String) throws {
        defer { store.remove() }
        let models = try path.map { try model($0) }
        let (people, _) = try store.open(models[0]) { try fill($0) }
        var isErased = false
        for (step, name) in path.enumerated().dropFirst() {
            try store.open(models[step]) { fixture in
                if !isErased, name == "I" || step == 1 && name == "A" {
                    let request = ErasureRequest(
                        objects: [people[1]], attributes: ["code"], note: ErasureFixture.note())
                    _ = try fixture.store.erase(request)
                    isErased = true
                    try expectGone("7002")
                }
                guard isErased, ["A", "I", "D"].contains(name) else { return }
                let dump = try StateDump(fixture.store, at: fixture.store.head())
                #expect(dump[people[1], "code"] == .value(.null), "\(path), step \(step)")
                if name == "A" { #expect(dump[people[0], "code"] == .value(.string("7001")), "\(path), step \(step)") }
                try #expect(fixture.store.rebuild().isUnchanged)
            }
            if isErased { try expectGone("7002") }
        }
        #expect(isErased)
    }

    /// A whole object is erased under the second model, which does not show its links.
    @Test(arguments: ["AIA", "ANA", "AINA", "ANEA", "AEA", "AENA", "AEEA"], [false, true])
    func anErasedObjectStaysAway(path: String, isCut: Bool) throws {
        defer { store.remove() }
        let models = try path.map { try model($0) }
        let (people, note) = try store.open(models[0]) { try fill($0) }
        for (step, name) in path.enumerated().dropFirst() {
            try store.open(models[step]) { fixture in
                if step == 1 {
                    _ = try fixture.store.erase(ErasureRequest(objects: [people[1]], note: ErasureFixture.note()))
                }
                if isCut { try TravelHistory.cutAtEnd.drop(fixture.store, isFirst: false) }
                try #expect(fixture.store.rebuild().isUnchanged)
                guard step == path.count - 1 else { return }
                let dump = try StateDump(fixture.store, at: fixture.store.head())
                #expect(name == "A" && dump.objects[people[1]] == nil, "\(path)")
                #expect(dump[note, "author"] == .value(.null), "\(path)")
                #expect(dump[people[0], "boss"] == .value(.null), "\(path)")
                #expect(dump[people[2], "staff"] == .members([]), "\(path)")
                #expect(dump[people[2], "friends"] == .members([people[0]]), "\(path)")
                #expect(dump[people[2], "idols"] == .members([people[0]]), "\(path)")
                #expect(dump[people[0], "code"] == .value(.string("7001")), "\(path)")
            }
        }
        try expectGone("7002")
    }
}
