import Foundation
import StrataGraph
import StrataModel
import Testing

/// Every delete rule over every kind of relationship and inverse, as Core Data documents it: deleted alone, together, in
/// a child, by a batch, and taken back by rollback, undo and revert.
@Suite(.verifiesStores) struct DeleteRuleMatrixTests {
    enum End: String, CaseIterable { case none, one, many, ordered }

    /// How the objects are deleted. Each begins with the same objects and comes to the same.
    enum Way: CaseIterable {
        case held, rows, child, grandchild, batch, redone
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let rule: DeleteRule
        let forward: End
        let inverse: End
        let isRequired: Bool
        /// Whether the targets have another owner too.
        let isShared: Bool

        var testDescription: String {
            "\(rule) over to-\(forward), inverse \(inverse)\(isRequired ? ", required" : "")\(isShared ? ", shared" : "")"
        }

        static let all: [Case] = [DeleteRule.nullify, .cascade, .deny, .noAction].flatMap { rule in
            [End.one, .many, .ordered].flatMap { forward in
                End.allCases.flatMap { inverse in
                    [false, true].flatMap { isRequired in
                        [false, true].compactMap { isShared in
                            if inverse == .none && isRequired || inverse == .one && isShared { return nil }
                            return Case(
                                rule: rule, forward: forward, inverse: inverse, isRequired: isRequired,
                                isShared: isShared)
                        }
                    }
                }
            }
        }

        func container() throws -> PersistentContainer {
            func relationship(_ name: String, _ end: End, to entity: String, inverse: String?)
                -> RelationshipDescription
            {
                RelationshipDescription(
                    name: name, destinationEntityName: entity, inverseName: inverse, hasNoInverse: inverse == nil,
                    isToMany: end != .one, isOrdered: end == .ordered)
            }
            var targets = relationship("targets", forward, to: "Target", inverse: inverse == .none ? nil : "owners")
            targets.deleteRule = rule
            let name = Porting.attribute("name", .string)
            var back: [PropertyDescription] = []
            if inverse != .none {
                var owners = relationship("owners", inverse, to: "Owner", inverse: "targets")
                owners.isOptional = !isRequired
                owners.minCount = isRequired && inverse != .one ? 1 : 0
                back = [.relationship(owners)]
            }
            return try Porting.container([
                EntityDescription(name: "Owner", properties: [name, .relationship(targets)]),
                EntityDescription(name: "Target", properties: [name] + back),
            ])
        }
    }

    /// What a deletion comes to: an error, or what is left.
    struct Outcome: Equatable, CustomStringConvertible {
        var error: StrataError.Code?
        /// The names of the objects, with those that their relationships lead to.
        var objects: [String: [String]] = [:]

        var description: String { error.map { "\($0)" } ?? "\(objects.sorted { $0.key < $1.key })" }
    }

    /// The objects of a case: an owner of one or two targets, perhaps with a second one.
    struct Graph {
        let example: Case
        let ids: [String: ObjectID]
        var targets: [String] { example.forward == .one ? ["t1"] : ["t1", "t2"] }
        var owners: [String] { example.isShared ? ["o1", "o2"] : ["o1"] }

        init(_ example: Case, in context: ManagedObjectContext) throws {
            self.example = example
            let targets = try (example.forward == .one ? ["t1"] : ["t1", "t2"]).map {
                try context.make("Target", ["name": $0])
            }
            let owners = try (example.isShared ? ["o1", "o2"] : ["o1"]).map { name in
                let value: Any = example.forward == .one ? targets[0] : targets
                return try context.make("Owner", ["name": name, "targets": value])
            }
            try context.save()
            ids = Dictionary(
                uniqueKeysWithValues: try (targets + owners).map { (try $0.text() ?? "", $0.objectID) })
        }

        func object(_ name: String, _ context: ManagedObjectContext) throws -> ManagedObject {
            try context.existingObject(with: ids[name] ?? ObjectID(rawValue: 0))
        }

        /// The links of the objects that are there. A to-one that leads to a deleted object shows `gone`.
        func outcome(_ context: ManagedObjectContext) throws -> Outcome {
            var outcome = Outcome()
            let there = try context.find("Owner") + context.find("Target")
            for object in there {
                let key = object.entity.name == "Owner" ? "targets" : "owners"
                guard object.entity.name == "Owner" || example.inverse != .none else {
                    outcome.objects[try object.text() ?? ""] = []
                    continue
                }
                let linked = try object.objectIDs(forRelationshipNamed: key).map { id in
                    try there.first { $0.objectID == id }?.text() ?? "gone"
                }
                outcome.objects[try object.text() ?? ""] = linked.sorted()
            }
            return outcome
        }

        /// What Core Data's documentation says of the deletion.
        func expected(deleting roots: Set<String>) -> Outcome {
            var deleted = roots
            let goes = { (owner: String) in roots.contains(owner) }
            if example.rule == .cascade, owners.contains(where: goes) { deleted.formUnion(targets) }
            let left = targets.filter { !deleted.contains($0) }
            if example.rule == .deny, owners.contains(where: goes), !left.isEmpty {
                return Outcome(error: .validationRelationshipDeniedDelete)
            }
            var outcome = Outcome()
            for owner in owners where !deleted.contains(owner) { outcome.objects[owner] = left }
            for target in left {
                let staying = owners.filter { !deleted.contains($0) }
                let hasLost = staying.count < owners.count
                switch example.inverse {
                case .none: outcome.objects[target] = []
                case .one:
                    if hasLost, example.rule == .noAction {
                        outcome.objects[target] = ["gone"]
                    } else if hasLost, example.isRequired {
                        return Outcome(error: .validationMissingMandatoryProperty)
                    } else {
                        outcome.objects[target] = staying
                    }
                case .many, .ordered:
                    if hasLost, staying.isEmpty, example.isRequired {
                        return Outcome(error: .validationRelationshipLacksMinimumCount)
                    }
                    outcome.objects[target] = staying
                }
            }
            return outcome
        }
    }

    // MARK: Deleting

    private func code(_ error: any Error) -> StrataError.Code? {
        guard let error = error as? StrataError else { return nil }
        let codes = error.code == .validationMultipleErrors ? error.details.map(\.code) : [error.code]
        // A denied deletion may leave another object without members as well.
        return codes.first { $0 == .validationRelationshipDeniedDelete } ?? codes.first
    }

    /// Deletes objects and saves; what is refused is dropped.
    private func outcome(
        _ graph: Graph, _ way: Way, deleting names: [String], in container: PersistentContainer
    ) throws -> Outcome {
        let root = container.newBackgroundContext()
        var contexts = [root]
        if way == .child || way == .grandchild { contexts.append(try root.newChildContext()) }
        if way == .grandchild { contexts.append(try contexts[1].newChildContext()) }
        let context = contexts.last ?? root
        let held = try way == .rows ? [] : graph.ids.keys.map { try graph.object($0, context) }
        defer { withExtendedLifetime(held) {} }
        do {
            if way == .batch {
                for entity in ["Owner", "Target"] {
                    let ids = names.filter { $0.hasPrefix(entity == "Owner" ? "o" : "t") }.compactMap { graph.ids[$0] }
                    if ids.isEmpty { continue }
                    let named = try FetchPredicate(format: "SELF IN %@", ids)
                    try context.execute(BatchDeleteRequest<ManagedObject>(entityName: entity, where: named))
                }
            } else {
                if way == .redone { context.undoManager = ObjectUndoManager() }
                for name in names {
                    // A cascade may have taken it already.
                    guard let id = graph.ids[name], !context.deletedObjectIDs.contains(id) else { continue }
                    context.delete(try context.existingObject(with: id))
                }
                if way == .redone {
                    context.processPendingChanges()
                    try context.undo()
                    #expect(!context.hasChanges, "\(graph.example), undone")
                    try context.redo()
                }
                for context in contexts.reversed() { try context.save() }
            }
        } catch {
            for context in contexts.reversed() { context.rollback() }
            return Outcome(error: code(error))
        }
        let outcome = try graph.outcome(container.newBackgroundContext())
        for (level, context) in contexts.enumerated() {
            let shown = try graph.outcome(context)
            #expect(shown == outcome, "\(graph.example), \(way): level \(level) shows another state")
        }
        return outcome
    }

    private func clear(_ container: PersistentContainer) throws {
        let context = container.newBackgroundContext()
        for object in try context.find("Owner") + context.find("Target") { context.delete(object) }
        try context.save()
    }

    @Test(arguments: Case.all) func aDeletionComesToTheSameInEveryWay(example: Case) throws {
        let container = try example.container()
        for way in Way.allCases {
            // Every order of deletions is tried with objects in memory.
            let orders = [["o1"], ["o1", "t1", "t2"], ["t1", "o1"], ["t2", "t1", "o1", "o2"]]
            for names in orders.prefix(way == .held ? 4 : 1) {
                let graph = try Graph(example, in: container.newBackgroundContext())
                let names = names.filter { graph.ids[$0] != nil }
                // A batch deletes one entity, so two together are two requests.
                if way == .batch, Set(names.map(\.first)).count > 1 {
                    try clear(container)
                    continue
                }
                let expected = graph.expected(deleting: Set(names))
                let found = try outcome(graph, way, deleting: names, in: container)
                #expect(found == expected, "\(example.testDescription): \(names), \(way)")
                try clear(container)
            }
        }
    }

    /// Links that were cut before the deletion do not deny it, nor when it is made again.
    @Test(arguments: Case.all.filter { $0.rule == .deny && !$0.isRequired }, [false, true])
    func whatWasCutBeforeDeniesNoRedoneDeletion(example: Case, isOneEvent: Bool) throws {
        let container = try example.container()
        let context = container.newBackgroundContext()
        let graph = try Graph(example, in: context)
        context.undoManager = ObjectUndoManager()
        let owner = try graph.object("o1", context)
        try owner.setValue(example.forward == .one ? nil : [] as [ManagedObject], forKey: "targets")
        if !isOneEvent { context.processPendingChanges() }
        context.delete(owner)
        context.processPendingChanges()
        let deleted = try graph.outcome(context)
        while context.undoManager?.canUndo == true { try context.undo() }
        #expect(!context.hasChanges, "\(example.testDescription)")
        while context.undoManager?.canRedo == true { try context.redo() }
        #expect(try graph.outcome(context) == deleted, "\(example.testDescription)")
        try context.save()
        #expect(try graph.outcome(container.newBackgroundContext()) == deleted, "\(example.testDescription)")
    }

    /// The app deletes what denied the deletion and saves.
    @Test(arguments: Case.all.filter { $0.rule == .deny && !$0.isShared }) func aDeniedDeletionIsCompletedAfterARedo(
        example: Case
    ) throws {
        let container = try example.container()
        let context = container.newBackgroundContext()
        let graph = try Graph(example, in: context)
        let before = try graph.outcome(context)
        let note = example.testDescription
        context.undoManager = ObjectUndoManager()
        context.delete(try graph.object("o1", context))
        context.processPendingChanges()
        for _ in 0..<2 {
            try context.undo()
            #expect(try graph.outcome(context) == before && !context.hasChanges, "\(note)")
            try context.redo()
            #expect(thrownError { try context.save() }.map(code) == .validationRelationshipDeniedDelete, "\(note)")
        }
        for target in graph.targets { context.delete(try graph.object(target, context)) }
        try context.save()
        #expect(try graph.outcome(container.newBackgroundContext()).objects.isEmpty, "\(note)")
    }

    @Test(arguments: Case.all) func aDeletionIsTakenBackWhole(example: Case) throws {
        let container = try example.container()
        let context = container.newBackgroundContext()
        let graph = try Graph(example, in: context)
        let before = try graph.outcome(context)
        let note = example.testDescription
        let owner = try graph.object("o1", context)
        context.delete(owner)
        context.rollback()
        #expect(try graph.outcome(context) == before, "\(note), rolled back")
        context.undoManager = ObjectUndoManager()
        context.delete(owner)
        context.processPendingChanges()
        try context.undo()
        #expect(try graph.outcome(context) == before && !context.hasChanges, "\(note), undone")
        try context.redo()
        do { try context.save() } catch { return context.rollback() }
        try context.undo()
        #expect(try graph.outcome(context) == before, "\(note), undone after its save")
        context.rollback()
        let deletion = try #require(container.transactions().last?.number)
        try context.revert(deletion)
        #expect(try graph.outcome(context) == before, "\(note), reverted")
        try context.save()
        #expect(try graph.outcome(container.newBackgroundContext()) == before, "\(note), reverted and saved")
        // In a child, taken back there and by its parent.
        let child = try context.newChildContext()
        child.undoManager = ObjectUndoManager()
        child.delete(try graph.object("o1", child))
        child.processPendingChanges()
        try child.undo()
        #expect(try graph.outcome(child) == before, "\(note), undone in a child")
        try child.redo()
        try child.save()
        context.rollback()
        child.refreshAllObjects()
        #expect(try graph.outcome(child) == before, "\(note), the parent rolled back")
    }
}
