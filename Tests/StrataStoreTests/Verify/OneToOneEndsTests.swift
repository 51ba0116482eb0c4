import Foundation
import LMDB
import StrataModel
@testable import StrataStore
import StrataTestSupport
import Testing

/// A verification compares the two ends of one-to-ones.
struct OneToOneEndsTests {
    private static func model() throws -> ManagedObjectModel {
        try Describe.model(
            EntityDescription(
                name: "Person",
                properties: [
                    Describe.toOne("passport", "Passport", inverse: "owner"),
                    Describe.toOne("partner", "Person", inverse: "partner"),
                ]),
            EntityDescription(
                name: "Passport",
                properties: [
                    .relationship(
                        RelationshipDescription(
                            name: "owner", destinationEntityName: "Person", inverseName: "passport",
                            deleteRule: .noAction))
                ]))
    }

    private struct People {
        let store = MigratedStore()
        var people: [ObjectID] = []
        var passports: [ObjectID] = []

        func problems(_ fixture: StoreFixture) throws -> [String] {
            try fixture.store.verify().problems.map { "\($0.location) \($0.message)" }
        }

        func name(_ id: ObjectID, _ fixture: StoreFixture) throws -> String {
            "\(try fixture.name(of: id))/p\(id.row)"
        }
    }

    /// Two people with a passport each, who are partners; a third has none, and is the own partner.
    private func fill(_ fixture: StoreFixture, _ made: inout People) throws {
        made.people = try (0..<3).map { _ in try fixture.insert("Person", [:]) }
        made.passports = try (0..<3).map { _ in try fixture.insert("Passport", [:]) }
        for index in 0..<2 {
            try fixture.update(
                made.people[index],
                ["passport": .objectID(made.passports[index]), "partner": .objectID(made.people[1 - index])])
            try fixture.update(made.passports[index], ["owner": .objectID(made.people[index])])
        }
        try fixture.update(made.people[2], ["partner": .objectID(made.people[2])])
    }

    /// As an older version may have written them: the log says so, and a rebuild makes the same rows.
    @Test func endsThatLeadToDifferentObjectsAreReportedAndASaveMendsThem() throws {
        var made = People()
        defer { made.store.remove() }
        try made.store.open(Self.model()) { fixture in
            try fill(fixture, &made)
            #expect(try made.problems(fixture) == [])
            try fixture.update(made.people[2], ["passport": .objectID(made.passports[0])])
            let names = try (made.people + made.passports).map { try made.name($0, fixture) }
            let stale =
                "\(names[2]).passport it leads to \(names[3]), whose owner is \(names[0]); "
                + "a save that sets one of the two ends mends it"
            #expect(try made.problems(fixture) == [stale])
            try #expect(fixture.store.rebuild().isUnchanged)
            #expect(try made.problems(fixture) == [stale])
            #expect(try fixture.store.verify(.quick).isSound)
            try fixture.update(made.people[2], ["passport": .null])
            #expect(try made.problems(fixture) == [])
            // An end that leads nowhere, and one-to-ones of one entity.
            try fixture.update(made.passports[2], ["owner": .objectID(made.people[2])])
            try fixture.update(made.people[0], ["partner": .null])
            #expect(try made.problems(fixture).count == 2)
            try fixture.update(made.people[2], ["passport": .objectID(made.passports[2])])
            try fixture.update(made.people[0], ["partner": .objectID(made.people[1])])
            #expect(try made.problems(fixture) == [])
        }
    }

    /// A target that is gone is no damage: its deletion may have left the end.
    @Test func anEndThatADeletionHasLeftIsSound() throws {
        var made = People()
        defer { made.store.remove() }
        try made.store.open(Self.model()) { fixture in
            try fill(fixture, &made)
            var changes = try fixture.changes()
            changes.deletions.append(
                .init(id: made.passports[0], baseRevision: try fixture.revision(of: made.passports[0])))
            try fixture.save(changes)
            #expect(try made.problems(fixture) == [])
        }
    }

    /// Only the view is damaged: a rebuild mends it.
    @Test func aRebuildMendsARowThatTheLogDoesNotHave() throws {
        var made = People()
        defer { made.store.remove() }
        try made.store.open(Self.model()) { fixture in
            try fill(fixture, &made)
            let file = fixture.store.file
            func row(_ id: ObjectID) throws -> [UInt8] {
                try file.environment.read { transaction in
                    Array(try #require(try transaction.get(file.tables.objects, id.rawValue)))
                }
            }
            // The row of a person with the passport of another.
            let (own, other) = (try row(made.people[0]), made.passports[1])
            let target = withUnsafeBytes(of: made.passports[0].rawValue.littleEndian) { Array($0) }
            let offset = try #require((0...own.count - 8).first { Array(own[$0..<$0 + 8]) == target })
            var image = own
            image.replaceSubrange(
                offset..<offset + 8, with: withUnsafeBytes(of: other.rawValue.littleEndian) { Array($0) })
            let sum = image.withUnsafeBytes { StoredRow.checksum($0) }
            image.replaceSubrange(0..<4, with: withUnsafeBytes(of: sum.littleEndian) { Array($0) })
            let sealed = image
            try file.environment.write { transaction in
                try sealed.withUnsafeBytes { try transaction.put(file.tables.objects, made.people[0].rawValue, $0) }
            }
            #expect(try made.problems(fixture).contains { $0.contains("sets one of the two ends mends it") })
            #expect(try !fixture.store.rebuild().isUnchanged)
            #expect(try made.problems(fixture) == [])
        }
    }
}
