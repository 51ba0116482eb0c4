import Foundation
import StrataModel
@testable import StrataStore
import Testing

/// Erasures of a list, made in a copy of the store in which the rules of the model would refuse them.
@Suite struct ListedErasureTests {
    private static func model(_ rule: DeleteRule, isPatientRequired: Bool) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Patient",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string)),
                    .attribute(AttributeDescription(name: "code", type: .string, defaultValue: .string("none"))),
                    .attribute(AttributeDescription(name: "ward", type: .string, defaultValue: .string("none"))),
                    .relationship(
                        RelationshipDescription(
                            name: "visits", destinationEntityName: "Visit", inverseName: "patient", isToMany: true,
                            deleteRule: rule)),
                ],
                uniquenessConstraints: [["code"]]),
            EntityDescription(
                name: "Visit",
                properties: [
                    .attribute(AttributeDescription(name: "title", type: .string)),
                    .relationship(
                        RelationshipDescription(
                            name: "patient", destinationEntityName: "Patient", inverseName: "visits",
                            isOptional: !isPatientRequired)),
                ]),
        ])
    }

    /// The patients were erased in the one copy after their visits were deleted; in the other copy, these are there.
    @Test(arguments: [(DeleteRule.deny, false), (.deny, true), (.nullify, true), (.nullify, false)])
    func aListIsMadeWhateverTheRulesSay(rule: DeleteRule, isPatientRequired: Bool) throws {
        let folder = try ErasureFolder()
        let older = folder.url.appending(component: "Older.strata", directoryHint: .isDirectory)
        let fixture = try StoreFixture(
            .directory(folder.store), model: try Self.model(rule, isPatientRequired: isPatientRequired))
        var patients: [ObjectID] = []
        for number in 0..<3 {
            let values: [String: AttributeValue] = [
                "name": .string("SecretName\(number)"), "code": .string("SecretCode\(number)"),
                "ward": .string("SecretWard"),
            ]
            patients.append(try fixture.insert("Patient", values))
        }
        let visits = try patients.dropLast().map { patient in
            try fixture.insert("Visit", ["title": .string("visit"), "patient": .objectID(patient)])
        }
        try fixture.update(patients[0], ["name": .string("SecretName again")])
        let before = try fixture.store.head()
        _ = try fixture.store.backup(to: older)
        for visit in visits { try fixture.delete(visit) }
        _ = try fixture.store.erase(ErasureRequest(objects: patients, note: ErasureFixture.note()))
        let list = try fixture.store.erasures()
        let copy = try Store.open(.directory(older), model: nil)
        let report = try copy.apply(list)
        #expect(report.isComplete)
        #expect(try copy.apply(list).objects == [])
        let isKept = rule == .deny || isPatientRequired
        #expect(report.objects.sorted() == patients.sorted() && report.deletedCount == (isKept ? 1 : 3))
        for moment in [before, try copy.head()] {
            try copy.read(at: moment) { snapshot in
                let entity = try #require(copy.schema.entity(named: "Patient"))
                for id in isKept ? Array(patients.dropLast()) : [] {
                    let image = try #require(try snapshot.row(id)).converted(to: entity)
                    let values = try ["name", "code", "ward"].map { name in
                        let slot = try #require(entity.property(named: name)).slot
                        return try image.withReader(entity.layout) { reader throws(CorruptRecord) in
                            try reader.value(slot)
                        }
                    }
                    #expect(values == [.null, .null, .string("none")])
                }
                for visit in visits { #expect(try snapshot.row(visit) != nil) }
            }
        }
        for id in patients { #expect(try copy.history(of: id).allSatisfy { $0.isErased || $0.kind == .deleted }) }
        let verified = try copy.verify()
        #expect(verified.isSound, "\(verified.problems)")
        #expect(try copy.rebuild().isUnchanged)
        copy.close()
        #expect(try Self.scan(older).isEmpty)
    }

    private static func scan(_ store: URL) throws -> [String] {
        let data = try Data(contentsOf: store.appending(component: "data.mdb"))
        return ["Secret", "SECRET", "secret"].filter { data.range(of: Data($0.utf8)) != nil }
    }

    /// What a rule of the model asks of a value in the older state: also there it goes.
    @Test func valuesOfAListGoWhereTheyMustBeThere() throws {
        let folder = try ErasureFolder()
        let older = folder.url.appending(component: "Older.strata", directoryHint: .isDirectory)
        let fixture = try StoreFixture(
            .directory(folder.store), model: try Self.model(.deny, isPatientRequired: false))
        let id = try fixture.insert(
            "Patient", ["name": .string("SecretName"), "code": .string("c"), "ward": .string("w")])
        _ = try fixture.store.backup(to: older)
        let request = ErasureRequest(objects: [id], attributes: ["name"], note: ErasureFixture.note())
        let error = #expect(throws: StrataError.self) { try fixture.store.erase(request) }
        #expect(error?.code == .validationMissingMandatoryProperty)
        let name = try fixture.property("Patient", "name").id
        let record = ErasureRecord(objects: [id], properties: [name], eventCount: 1, transactions: [])
        let erasure = RecordedErasure(
            eventNumber: EventNumber(rawValue: 90), transactionID: UUID(), date: .now, author: nil, metadata: [:],
            record: record)
        let copy = try Store.open(.directory(older), model: nil)
        #expect(try copy.apply([erasure]).isComplete)
        #expect(try copy.verify().isSound)
        copy.close()
        #expect(try Self.scan(older).isEmpty)
    }
}
