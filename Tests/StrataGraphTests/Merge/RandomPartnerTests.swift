import Foundation
import StrataGraph
import StrataModel
import StrataTestSupport
import Testing

/// Three contexts, children among them, that link, unlink, delete, undo, refresh and save under every policy: in every
/// context both ends of every one-to-one say the same after every step, and so does the store, reopened and verified.
@Suite struct RandomPartnerTests {
    private static let policies: [MergePolicy] = [
        .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback, .error,
        .custom("by entity") { conflict, _ in conflict.entityName == "Being" ? .mine : .theirs },
        .custom("whole, by entity") { conflict, _ in conflict.entityName == "Being" ? .allTheirs : .allMine },
        .custom("by number") { conflict, _ in
            [.mine, .theirs, .allMine, .allTheirs, .values([:])][Int(conflict.objectID.rawValue % 5)]
        },
    ]

    private struct Run {
        let container: PersistentContainer
        var random: SeededGenerator
        var contexts: [ManagedObjectContext] = []
        var overruled = 0, merges = 0
        var trace: [String] = []

        mutating func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

        mutating func any(_ entity: String, _ context: ManagedObjectContext) throws -> ManagedObject? {
            let all = try context.fetch(FetchRequest<ManagedObject>(entityName: entity))
            return all.sorted { $0.objectID < $1.objectID }.randomElement(using: &random)
        }

        mutating func make(_ context: ManagedObjectContext) throws -> ManagedObject {
            let entity = ["Being", "Robot", "Card", "GoldCard", "Shadow", "House"][number(6)]
            return try context.insertNewObject(forEntityName: entity)
        }

        mutating func change(_ context: ManagedObjectContext) throws {
            let links = PartnerModel.partners.sorted { $0.key < $1.key }.flatMap { entity, links in
                links.map { (entity, $0.name) }
            }
            let (entity, link) = links[number(links.count)]
            let place = contexts.firstIndex { $0 === context }.map(String.init) ?? "child"
            let target = ["card": "Card", "shadow": "Shadow", "house": "House"][link] ?? "Being"
            guard let object = try any(entity, context) else {
                _ = try make(context)
                return
            }
            let kind = number(16)
            trace.append("change \(place) \(kind) \(object.objectID).\(link)")
            switch kind {
            case 0...7: try object.setValue(try any(target, context), forKey: link)
            case 8: try object.setValue(nil, forKey: link)
            case 9: try object.setValue("n\(number(1000))", forKey: "name")
            case 10 where number(3) == 0: context.delete(object)
            case 10, 11:
                if let being = try any("Being", context) {
                    try being.setValue(try any("House", context), forKey: "room")
                }
            case 12: try make(context).setValue("new", forKey: "name")
            case 13: try context.undoManager?.undo()
            case 14: try context.undoManager?.redo()
            default: context.processPendingChanges()
            }
        }

        mutating func step() throws {
            let place = number(contexts.count), kind = number(12)
            let context = contexts[place]
            trace.append("step \(place) \(kind)")
            switch kind {
            case 0: try move(context)
            case 1: context.rollback()
            case 2: try inChild(of: context)
            case 3, 4, 5: try save(context)
            default: try change(context)
            }
        }

        mutating func move(_ context: ManagedObjectContext) throws {
            let kind = number(4)
            trace.append("move \(kind)")
            switch kind {
            case 0:
                let updated = context.updatedObjects.sorted { $0.objectID < $1.objectID }
                guard let object = updated.randomElement(using: &random) else { return }
                let isMerged = number(2) == 0
                trace.append("refresh \(object.objectID) \(isMerged)")
                context.refresh(object, mergeChanges: isMerged)
            case 1: try context.mergeChanges(from: try #require(try container.transactions().last).number)
            default: context.refreshAllObjects()
            }
        }

        mutating func inChild(of context: ManagedObjectContext) throws {
            let child = try context.newChildContext()
            child.mergePolicy = RandomPartnerTests.policies[number(RandomPartnerTests.policies.count)]
            for _ in 0..<number(4) {
                try change(child)
                try change(context)
                if number(3) == 0 { child.refreshAllObjects() }
                if let problem = try PartnerModel.disagreement(child) {
                    throw Disagreement(problem: "child: \(problem)")
                }
            }
            try tolerating(child) { try child.save() }
        }

        mutating func save(_ context: ManagedObjectContext) throws {
            if number(3) == 0 {
                context.mergePolicy = RandomPartnerTests.policies[number(RandomPartnerTests.policies.count)]
            }
            if try container.head() != context.eventNumber { merges += 1 }
            trace.append("save \(context.mergePolicy.name)")
            try tolerating(context) { try context.save() }
            if let problem = try PartnerModel.joinDisagreement(context) { throw Disagreement(problem: problem) }
            if !context.hasChanges { overruled += try container.transactions().last?.conflicts.count ?? 0 }
        }

        func tolerating(_ context: ManagedObjectContext, _ body: () throws -> Void) throws {
            do {
                try body()
            } catch let error as StrataError where error.code == .merge {
                context.rollback()
                context.refreshAllObjects()
            }
        }

        func check() throws {
            for (index, context) in contexts.enumerated() {
                if let problem = try PartnerModel.disagreement(context) {
                    throw Disagreement(problem: "context \(index): \(problem)")
                }
                if let error = context.unreportedErrors.first { throw error }
            }
        }
    }

    private struct Disagreement: Error {
        let problem: String
    }

    private func populate(_ container: PersistentContainer, _ random: inout SeededGenerator) throws {
        let context = container.newBackgroundContext()
        for entity in ["Being", "Being", "Robot", "Card", "GoldCard", "Card", "Shadow", "Shadow", "House", "House"] {
            _ = try context.insertNewObject(forEntityName: entity)
        }
        try context.save()
    }

    @Test(arguments: RandomTesting.seeds) func bothEndsOfEveryOneToOneSayTheSame(seed: UInt64) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "partners-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let container = try PartnerModel.container(at: .url(folder))
        var run = Run(container: container, random: SeededGenerator(seed: seed))
        try populate(container, &run.random)
        run.contexts = (0..<3).map { index in
            let context = container.newBackgroundContext()
            context.mergePolicy = Self.policies[Int(seed) % Self.policies.count]
            if index == 0 { context.undoManager = ObjectUndoManager() }
            if index == 1 { context.automaticallyMergesChangesFromParent = true }
            return context
        }
        for step in 0..<120 {
            do {
                try run.step()
                try run.check()
            } catch {
                Issue.record("seed \(seed), step \(step): \(error) after \(run.trace.suffix(60))")
                return
            }
        }
        #expect(run.merges > 2)
        let eventNumber = try container.head()
        container.close()
        let reopened = try PartnerModel.container(at: .url(folder))
        #expect(try reopened.head() == eventNumber)
        let seen = reopened.newBackgroundContext()
        #expect(
            try PartnerModel.disagreement(seen) == nil && PartnerModel.joinDisagreement(seen) == nil, "seed \(seed)")
        let report = try reopened.verify()
        #expect(report.isSound, "seed \(seed): \(report)")
        reopened.close()
    }
}
