import Foundation
import StrataGraph
import StrataModel
import StrataStore
import Testing

/// Containers whose model is one that their store has left behind.
struct DowngradeTests {
    private let url = FileManager.default.temporaryDirectory
        .appending(path: "strata-\(UUID().uuidString)", directoryHint: .isDirectory)

    private static func text(_ name: String) -> PropertyDescription {
        .attribute(AttributeDescription(name: name, type: .string, isOptional: true))
    }

    private static func relationship(
        _ name: String, _ destination: String, _ inverse: String, isToMany: Bool = false, isOrdered: Bool = false
    ) -> PropertyDescription {
        .relationship(
            RelationshipDescription(
                name: name, destinationEntityName: destination, inverseName: inverse, isToMany: isToMany,
                isOrdered: isOrdered))
    }

    private static let stars = PropertyDescription.attribute(
        AttributeDescription(name: "stars", type: .integer32, isOptional: true, defaultValue: .integer(1)))

    private static func older() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [EntityDescription(name: "Note", properties: [text("text")])])
    }

    /// The older model, and an attribute, an entity, and a relationship of each kind.
    private static func newer() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Note",
                properties: [
                    text("text"), stars, relationship("parent", "Note", "parts"),
                    relationship("parts", "Note", "parent", isToMany: true, isOrdered: true),
                    relationship("twin", "Note", "twin"),
                    relationship("likes", "Note", "likedBy", isToMany: true),
                    relationship("likedBy", "Note", "likes", isToMany: true),
                ]),
            EntityDescription(name: "Tag", properties: [text("label")]),
        ])
    }

    private func container(
        _ model: ManagedObjectModel, _ migration: PersistentStoreMigration = .automatic, allowed: Bool = false
    ) -> PersistentContainer {
        PersistentContainer(
            name: "Test", model: model, at: .url(url),
            options: .init(durability: .disposable, migration: migration, allowsModelDowngrade: allowed))
    }

    private let notes = {
        var notes = FetchRequest<ManagedObject>(entityName: "Note")
        notes.sortDescriptors = [SortDescription("text")]
        return notes
    }()

    /// A store that had the older model, and now has the newer one with seven notes, linked in a ring, and two tags.
    private func makeStore() throws {
        try withLoaded(container(Self.older())) { _ in }
        try withLoaded(container(Self.newer())) { context in
            let made = try (0..<7).map { index in
                let note = try context.insertNewObject(forEntityName: "Note")
                try note.setValue("note \(index)", forKey: "text")
                try note.setValue(index == 6 ? nil : Int32(index + 10), forKey: "stars")
                return note
            }
            for index in 0..<7 {
                try made[index].setValue([made[(index + 1) % 7], made[(index + 3) % 7]] as Set, forKey: "likes")
            }
            for index in [3, 1, 2] { try made[index].setValue(made[0], forKey: "parent") }
            try made[4].setValue(made[5], forKey: "twin")
            for label in ["a", "b"] {
                try context.insertNewObject(forEntityName: "Tag").setValue(label, forKey: "label")
            }
        }
    }

    private func names(_ objects: Any?) throws -> [String] {
        let objects = (objects as? [ManagedObject]) ?? Array((objects as? Set<ManagedObject>) ?? [])
        return try objects.map { try $0.value(forKey: "text") as? String ?? "" }
    }

    @Test func anOlderModelIsRefusedWithWhatItWouldHide() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        try makeStore()
        for migration in [PersistentStoreMigration.automatic, .staged([.init(label: "old", to: try Self.older())])] {
            let error = thrownError { try container(Self.older(), migration).loadPersistentStores() }
            #expect(error?.code == .modelDowngrade)
            let message = error?.message ?? ""
            #expect(message.hasPrefix("The store has model 2, installed on 20"), "\(message)")
            #expect(
                message.contains(" by \(ProcessInfo.processInfo.processName). The model given is its older model 1."))
            #expect(
                message.contains(
                    "would hide 6 values of Note.stars, 3 values of Note.parent, 2 values of Note.twin, 14 values of "
                        + "Note.likes, 14 values of Note.likedBy and 2 objects of Tag."), "\(message)")
            #expect(
                error?.details.map { $0.context.key ?? "-" } == ["stars", "parent", "twin", "likes", "likedBy", "-"])
            #expect(error?.details.last?.context.entityName == "Tag")
        }
        let plan = try container(Self.older()).migrationPlan()
        #expect(plan.isDowngrade)
        #expect(plan.steps.first { $0.key == "stars" }?.hiddenValueCount == 6)
        #expect(plan.steps.first { $0.key == "stars" }?.description == "Note.stars is removed. (hides 6 values)")
        try withLoaded(container(Self.newer())) { context in
            let stars = try context.fetch(notes).compactMap { try $0.value(forKey: "stars") as? Int32 }
            #expect(stars == [10, 11, 12, 13, 14, 15])
        }
    }

    @Test(arguments: [200_000, 0])
    func whatComesBackHasItsValuesAndLinksAgain(objectsInOneCommit: Int) throws {
        defer { try? FileManager.default.removeItem(at: url) }
        try makeStore()
        try withLoaded(container(Self.older(), allowed: true)) { context in
            let all = try context.fetch(notes)
            #expect(all.count == 7)
            // Changed, deleted, and made while the properties are hidden.
            try all[1].setValue("note 1, changed", forKey: "text")
            context.delete(all[2])
            try context.insertNewObject(forEntityName: "Note").setValue("note 7", forKey: "text")
        }
        let newer = container(try Self.newer())
        #expect(try !newer.migrationPlan().isDowngrade)
        let step = try newer.migrationPlan().steps.first { $0.key == "stars" }
        #expect(step?.sentence == "Note.stars is back, with the last values that it had.")
        var options = StoreOptions()
        options.durability = .disposable
        options.migration.limits.objectsInOneCommit = objectsInOneCommit
        options.migration.limits.objectsInStep = 2
        try Store.open(.directory(url), model: Self.newer(), options: options).close()
        try withLoaded(newer) { context in
            let all = try context.fetch(notes)
            #expect(
                try names(all)
                    == ["note 0", "note 1, changed", "note 3", "note 4", "note 5", "note 6", "note 7"])
            let stars = try all.map { try $0.value(forKey: "stars") as? Int32 }
            #expect(stars == [10, 11, 13, 14, 15, nil, 1])
            #expect(try names(all[0].value(forKey: "likes")).sorted() == ["note 1, changed", "note 3"])
            #expect(try names(all[3].value(forKey: "likedBy")).sorted() == ["note 1, changed", "note 3"])
            #expect(try names(all[0].value(forKey: "parts")) == ["note 3", "note 1, changed"])
            #expect(try (all[2].value(forKey: "parent") as? ManagedObject) === all[0])
            #expect(try (all[3].value(forKey: "twin") as? ManagedObject) === all[4])
            #expect(try (all[4].value(forKey: "twin") as? ManagedObject) === all[3])
            #expect(try all[5].value(forKey: "twin") == nil)
            let tags = try context.fetch(FetchRequest<ManagedObject>(entityName: "Tag"))
            #expect(try tags.map { try $0.value(forKey: "label") as? String } == ["a", "b"])
        }
        #expect(thrownError { try container(Self.older()).loadPersistentStores() }?.code == .modelDowngrade)
    }

    @Test func aStageIsTheDecisionToGoBack() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        try makeStore()
        let stages = [
            MigrationStage(label: "notes", to: try Self.newer()), MigrationStage(label: "back", to: try Self.older()),
        ]
        try withLoaded(container(Self.older(), .staged(stages))) { context in
            let all = try context.fetch(notes)
            #expect(all.count == 7)
        }
        try withLoaded(container(Self.older())) { _ in }
    }

    @Test func aNewModelThatRemovesAPropertyIsAMigration() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        try makeStore()
        let model = try ManagedObjectModel(entities: [
            EntityDescription(name: "Note", properties: [Self.text("text"), Self.text("summary")]),
            EntityDescription(name: "Tag", properties: [Self.text("label")]),
        ])
        let next = container(model)
        let plan = try next.migrationPlan()
        #expect(!plan.isDowngrade && plan.isConstantTime)
        let hidden = plan.steps.map(\.hiddenValueCount).filter { $0 > 0 }
        #expect(hidden == [6, 3, 2, 14, 14])
        try withLoaded(next) { context in
            let all = try context.fetch(notes)
            #expect(all.count == 7)
        }
    }

    @Test func modelsThatDifferInMetadataOnlyTakeTurns() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let plain = try Self.older()
        let classed = try ManagedObjectModel(entities: [
            EntityDescription(name: "Note", managedObjectClassName: "NoteObject", properties: [Self.text("text")])
        ])
        for model in [plain, classed, plain, classed] { try withLoaded(container(model)) { _ in } }
        try withLoaded(container(Self.newer())) { _ in }
        for model in [plain, classed] {
            #expect(thrownError { try container(model).loadPersistentStores() }?.code == .modelDowngrade)
        }
    }
}
