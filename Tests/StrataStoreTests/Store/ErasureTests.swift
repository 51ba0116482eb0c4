import Foundation
import LMDB
import StrataModel
@testable import StrataStore
import Testing

/// Erasures: what they leave in the store, and that they leave no byte of a value in its files.
@Suite struct ErasureTests {
    @Test func anErasedObjectLeavesNoByteOfItsValues() throws {
        let folder = try ErasureFolder()
        let fixture = try StoreFixture(.directory(folder.store), model: try ErasureFixture.model())
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
        let report = try fixture.store.erase(ErasureRequest(objects: erased, note: ErasureFixture.note()))
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
        #expect(verified.erasures[0].transaction?.author == "dpo")
        #expect(try fixture.store.rebuild().isUnchanged)
        #expect(try fixture.store.history(of: erased[0]).allSatisfy(\.isErased))
    }

    private func person(_ fixture: StoreFixture, _ mark: String) throws -> ObjectID {
        try fixture.insert(
            "Person",
            [
                "name": .string("\(mark)Name"), "email": .string("\(mark)Mail"), "city": .string("\(mark)City"),
                "code": .string("\(mark)Code"),
            ])
    }

    @Test func valuesAloneAreErasedFromPresentAndPast() throws {
        let folder = try ErasureFolder()
        let fixture = try StoreFixture(.directory(folder.store), model: try ErasureFixture.model())
        let id = try person(fixture, "Secret")
        let first = try fixture.store.head()
        try fixture.update(id, ["email": .string("SecretOther"), "note": .string("kept note")])
        try fixture.update(id, ["note": .string("kept, too")])
        let second = try fixture.store.head()
        let report = try fixture.store.erase(
            ErasureRequest(objects: [id], attributes: ["name", "email", "city"], note: ErasureFixture.note()))
        #expect(report.isComplete && report.deletedCount == 0 && report.eventCount == 3)
        #expect(try folder.scan(for: ["SecretName", "SecretMail", "SecretOther", "SecretCity"]) == [:])
        for moment in [first, second, try fixture.store.head()] {
            let values = try #require(try fixture.values(id, at: moment))
            #expect(values["name"] == .null && values["email"] == .null && values["city"] == .string("nowhere"))
            #expect(values["code"] == .string("SecretCode"))
        }
        #expect(try fixture.values(id, at: second)?["note"] == .string("kept, too"))
        #expect(try fixture.store.verify().isSound)
        #expect(try fixture.store.rebuild().isUnchanged)
    }

    @Test func aValueThatMustBeThereIsNotErasedAlone() throws {
        let fixture = try StoreFixture(model: try ErasureFixture.model())
        let id = try person(fixture, "Secret")
        let head = try fixture.store.head()
        let error = #expect(throws: StrataError.self) {
            try fixture.store.erase(ErasureRequest(objects: [id], attributes: ["code"], note: ErasureFixture.note()))
        }
        #expect(error?.code == .validationMissingMandatoryProperty && error?.context.key == "code")
        let unknown = #expect(throws: StrataError.self) {
            try fixture.store.erase(ErasureRequest(objects: [id], attributes: ["mail"], note: ErasureFixture.note()))
        }
        #expect(unknown?.code == .unknownKey)
        #expect(try fixture.store.head() == head && fixture.values(id)?["code"] == .string("SecretCode"))
    }

    @Test func aPlanSaysWhatAnErasureWouldDoAndWritesNothing() throws {
        let fixture = try StoreFixture(model: try ErasureFixture.model())
        let id = try person(fixture, "Secret")
        try fixture.update(id, ["name": .string("SecretAgain")])
        let head = try fixture.store.head()
        let request = ErasureRequest(objects: [id], note: ErasureFixture.note())
        let plan = try fixture.store.planErasure(request)
        #expect(plan.objects == [id] && plan.deletedCount == 1 && plan.eventCount == 3)
        #expect(try fixture.store.head() == head && fixture.values(id)?["name"] == .string("SecretAgain"))
        #expect(try fixture.store.erase(request).eventCount == plan.eventCount)
    }

    @Test func filesOfLargeValuesGo() throws {
        let folder = try ErasureFolder()
        let fixture = try StoreFixture(.directory(folder.store), model: try ErasureFixture.model())
        let secret = Data(String(repeating: "SecretPicture", count: 20_000).utf8)
        var changes = try fixture.changes()
        let lease = try fixture.store.beginBlobLease()
        let blob = try fixture.store.stageBlob(secret)
        let id = try fixture.insert("Person", ["code": .string("c"), "picture": .blob(blob)], into: &changes)
        let other = try fixture.insert("Person", ["code": .string("c"), "picture": .blob(blob)], into: &changes)
        try fixture.save(changes)
        #expect(try folder.scan(for: ["SecretPicture"]).count == 1)
        var held = try fixture.store.erase(ErasureRequest(objects: [id], note: ErasureFixture.note()))
        // Another object has the same picture.
        #expect(held.isComplete && held.fileCount == 0)
        #expect(try folder.scan(for: ["SecretPicture"]).count == 1)
        held = try fixture.store.erase(ErasureRequest(objects: [other], note: ErasureFixture.note()))
        #expect(!held.isComplete)
        withExtendedLifetime(lease) {}
    }

    @Test func whatAnOldReaderHoldsIsOverwrittenLater() throws {
        let folder = try ErasureFolder()
        let fixture = try StoreFixture(.directory(folder.store), model: try ErasureFixture.model())
        let id = try person(fixture, "Secret")
        for _ in 0..<5 { _ = try person(fixture, "Public") }
        let environment = fixture.store.file.environment
        let reader = try environment.beginRead()
        let report = try fixture.store.erase(ErasureRequest(objects: [id], note: ErasureFixture.note()))
        #expect(!report.isComplete)
        #expect(try folder.scan(for: ["Secret"]) != [:])
        environment.end(reader)
        let rest = try #require(try fixture.store.finishErasures())
        #expect(rest.isComplete)
        #expect(try folder.scan(for: ["Secret"]) == [:])
        #expect(try fixture.store.finishErasures() == nil)
    }

    @Test func aRestoredBackupForgetsWhatTheStoreHasErased() throws {
        let folder = try ErasureFolder()
        let fixture = try StoreFixture(.directory(folder.store), model: try ErasureFixture.model())
        let id = try person(fixture, "Secret")
        let values = try person(fixture, "Partly")
        let backup = folder.url.appending(component: "backup", directoryHint: .isDirectory)
        try fixture.store.backup(to: backup)
        _ = try fixture.store.erase(ErasureRequest(objects: [id], note: ErasureFixture.note("first")))
        _ = try fixture.store.erase(
            ErasureRequest(objects: [values], attributes: ["name"], note: ErasureFixture.note("second")))
        let erasures = try fixture.store.erasures()
        #expect(erasures.map { $0.metadata["strata.reason"] } == ["first", "second"])
        let restored = folder.url.appending(component: "restored", directoryHint: .isDirectory)
        let copy = try Store.open(.directory(backup), model: nil, options: StoreOptions())
        _ = try copy.restore(to: restored, erasing: erasures)
        copy.close()
        try FileManager.default.removeItem(at: backup)
        #expect(try folder.scan(for: ["Secret", "PartlyName"]) == [:])
        let made = try StoreFixture(.directory(restored), model: try ErasureFixture.model())
        #expect(try made.store.erasures().map(\.transactionID) == erasures.map(\.transactionID))
        #expect(try made.values(values)?["email"] == .string("PartlyMail"))
        #expect(try made.store.apply(erasures).objects == [])
        made.store.close()
    }

    /// The list of a truncated store names erasures whose transactions are gone.
    @Test(arguments: [true, false]) func whatWasWrittenAfterAnErasureStaysInARestoredBackup(isTruncatedFirst: Bool)
        throws
    {
        let folder = try ErasureFolder()
        let fixture = try StoreFixture(.directory(folder.store), model: try ErasureFixture.model())
        let id = try person(fixture, "Secret")
        _ = try fixture.store.erase(
            ErasureRequest(objects: [id], attributes: ["note"], note: ErasureFixture.note()))
        _ = try person(fixture, "Public")
        let backup = folder.url.appending(component: "backup", directoryHint: .isDirectory)
        func truncate() throws {
            _ = try fixture.store.truncateHistory(through: try fixture.store.head(), ErasureFixture.note())
        }
        if isTruncatedFirst { try truncate() }
        try fixture.update(id, ["note": .string("new")])
        try fixture.store.backup(to: backup)
        if !isTruncatedFirst { try truncate() }
        let restored = folder.url.appending(component: "restored", directoryHint: .isDirectory)
        let copy = try Store.open(.directory(backup), model: nil, options: StoreOptions())
        _ = try copy.restore(to: restored, erasing: try fixture.store.erasures())
        copy.close()
        let made = try StoreFixture(.directory(restored), model: try ErasureFixture.model())
        defer { made.store.close() }
        #expect(try made.values(id)?["note"] == .string("new"))
        #expect(try made.store.verify().isSound)
    }

    @Test func copiesOfTheLogKeepTheErasures() throws {
        let folder = try ErasureFolder()
        let fixture = try StoreFixture(.directory(folder.store), model: try ErasureFixture.model())
        var changes = try fixture.changes()
        changes.author = "SecretName"
        changes.metadata = ["about": "for SecretMail", "batch": "seven"]
        let id = try fixture.insert(
            "Person", ["name": .string("SecretName"), "email": .string("SecretMail"), "code": .string("c")],
            into: &changes)
        try fixture.save(changes)
        let early = try fixture.store.head()
        _ = try person(fixture, "Public")
        let report = try fixture.store.erase(ErasureRequest(objects: [id], note: ErasureFixture.note()))
        #expect(report.transactionCount == 1)
        #expect(try folder.scan(for: ["Secret"]) == [:])
        let record = try #require(try fixture.store.transaction(containing: early))
        #expect(record.author == nil && record.metadata == ["batch": "seven"] && record.isErased)
        #expect(try fixture.store.verify().isSound)
        for (name, moment) in [("whole", try fixture.store.head()), ("early", early)] {
            let url = folder.url.appending(component: name, directoryHint: .isDirectory)
            let copied = try fixture.store.replay(through: moment, to: url)
            #expect(copied.verification.isSound, "\(copied.verification.problems)")
        }
    }

    @Test(arguments: [1, 1000]) func anErasureThatIsKilledGoesOnAtTheNextOpening(_ eventsInOneCommit: Int) throws {
        let folder = try ErasureFolder()
        let fixture = try StoreFixture(.directory(folder.store), model: try ErasureFixture.model())
        let ids = try (0..<4).map { try person(fixture, "Secret\($0)") }
        for id in ids { try fixture.update(id, ["name": .string("SecretAgain")]) }
        var run = ErasureRun(file: fixture.store.file, blobs: fixture.store.blobs)
        run.eventsInOneCommit = eventsInOneCommit
        let step = try #require(try run.begin(ErasureRequest(objects: ids, note: ErasureFixture.note())))
        #expect(step.mark.objects.count == (eventsInOneCommit == 1 ? 3 : 0))
        // What else a process would have done is not done.
        fixture.store.close()
        #expect(try folder.scan(for: ["Secret"]) != [:])
        let reopened = try StoreFixture(.directory(folder.store), model: try ErasureFixture.model())
        #expect(try folder.scan(for: ["Secret"]) == [:])
        #expect(try reopened.store.erasures().flatMap(\.record.objects).sorted() == ids.sorted())
        #expect(try reopened.store.erasures().allSatisfy { $0.author == "dpo" })
        #expect(try reopened.store.finishErasures() == nil)
    }

    @Test func entriesOfAnIndexThatHasLeftTheModelGo() throws {
        let folder = try ErasureFolder()
        var fixture = try StoreFixture(.directory(folder.store), model: try ErasureFixture.model())
        let id = try person(fixture, "Secret")
        _ = try person(fixture, "Public")
        fixture.store.close()
        let entity = try #require(try ErasureFixture.model().entities.first)
        var plain = entity
        plain.indexes = []
        fixture = try StoreFixture(.directory(folder.store), model: try ManagedObjectModel(entities: [plain]))
        let report = try fixture.store.erase(ErasureRequest(objects: [id], note: ErasureFixture.note()))
        #expect(report.isComplete && report.isRebuilt)
        #expect(try folder.scan(for: ["Secret"]) == [:])
    }

    @Test func keysThatWaitInBuffersGo() throws {
        let folder = try ErasureFolder()
        var options = StoreOptions()
        options.bufferLimits = BufferLimits(
            fewestPages: 1, mostEntriesForEachPage: 1000, fewestLeaving: 4, sizeInRoots: 20)
        let fixture = try StoreFixture(.directory(folder.store), model: try ErasureFixture.model(), options: options)
        var changes = try fixture.changes()
        for number in 0..<400 {
            _ = try fixture.insert(
                "Person", ["name": .string("Public\(number)"), "code": .string("c")], into: &changes)
        }
        try fixture.save(changes)
        let ids = try (0..<5).map { try person(fixture, "Secret\($0)") }
        // Removals of earlier keys wait, too.
        for id in ids { try fixture.update(id, ["name": .string("zSecretOther"), "email": .null]) }
        let report = try fixture.store.erase(ErasureRequest(objects: ids, note: ErasureFixture.note()))
        #expect(report.isComplete)
        #expect(try folder.scan(for: ["Secret"]) == [:])
    }

    @Test func filesThatWerePutAsideGo() throws {
        let folder = try ErasureFolder()
        let fixture = try StoreFixture(.directory(folder.store), model: try ErasureFixture.model())
        let id = try person(fixture, "Secret")
        let names = ["damaged-2026-11-01T101010.000Z", "outdated-2026-11-02T101010.000Z"]
        for name in names {
            let aside = folder.store.appending(component: name, directoryHint: .isDirectory)
            try FileManager.default.createDirectory(at: aside, withIntermediateDirectories: false)
            try FileManager.default.copyItem(
                at: folder.store.appending(component: "data.mdb"), to: aside.appending(component: "data.mdb"))
        }
        let report = try fixture.store.erase(ErasureRequest(objects: [id], note: ErasureFixture.note()))
        #expect(report.isComplete && report.removedCopies.map { URL(filePath: $0).lastPathComponent }.sorted() == names)
        #expect(try folder.scan(for: ["Secret"]) == [:])
    }

    @Test func declaredViewsForgetTheirGroups() throws {
        let folder = try ErasureFolder()
        let plain = try ErasureFixture.model()
        let view = ViewDescription(
            name: "ByCity", entityName: "Person", keys: [ViewKey("city")],
            aggregates: [
                ViewAggregate("people", .count), ViewAggregate("names", .countDistinct, "name"),
            ], orders: [ViewOrder("names")])
        let fixture = try StoreFixture(
            .directory(folder.store), model: try ManagedObjectModel(entities: plain.entities).adding(views: [view]))
        let ids = try (0..<40).map { try person(fixture, "Secret\($0)") }
        for number in 0..<40 { _ = try person(fixture, "Public\(number)") }
        let report = try fixture.store.erase(ErasureRequest(objects: ids, note: ErasureFixture.note()))
        #expect(report.isComplete)
        #expect(try folder.scan(for: ["Secret"]) == [:])
    }
}
