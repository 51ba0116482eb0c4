import StrataGraph
import StrataModel
import StrataTestSupport
import Testing

/// Objects that the app holds while their contexts change and move in every way: each shows what a request reads of it,
/// derived values among them, or it is deleted and shows what it was read with. What a move changed is announced.
@Suite(.verifiesStores) struct RandomHeldObjectTests {
    @Test(arguments: RandomTesting.seeds(unlessAsked: Array(1...60)))
    func heldObjectsShowWhatRequestsRead(_ seed: UInt64) throws {
        var run = try HeldObjectsRun(seed: seed)
        var steps: [String] = []
        for step in 0..<25 {
            run.begin()
            steps.append(try run.step())
            if let problem = try run.problem() {
                Issue.record("seed \(seed), step \(step): \(problem)\n\(steps.joined(separator: "\n"))")
                return
            }
        }
    }
}

/// The objects of one context, as they were after the last step.
private final class HeldObjects {
    struct State {
        let object: ManagedObject
        let values: [AttributeValue]
        let committed: [String: AttributeValue]
        let note: String?
        let wasPending: Bool
    }

    let name: String
    let context: ManagedObjectContext
    var states: [ObjectID: State] = [:]
    /// What the context announced in this step.
    var told: Set<ObjectID> = []
    private var observations: [ContextObservation] = []

    init(_ name: String, _ context: ManagedObjectContext) {
        self.name = name
        self.context = context
        observations = [ContextEvent.didMerge, .objectsDidChange].map { event in
            context.observe(event) { [weak self] changes in
                self?.told.formUnion(changes.refreshedObjectIDs)
                self?.told.formUnion(changes.deletedObjectIDs)
                self?.told.formUnion(changes.insertedObjectIDs)
                self?.told.formUnion(changes.updatedObjectIDs)
            }
        }
    }

    /// What is wrong with an object.
    ///
    /// - Parameters:
    ///   - isMove: whether the step only moved the context.
    ///   - reread: an object that the app asked to read again, without its transient values.
    func problem(isMove: Bool, _ reread: ObjectID?) throws -> String? {
        let rows = try DerivedFamily.rows(context)
        for (id, state) in states {
            let object = state.object
            guard object.managedObjectContext === context, !context.deletedObjectIDs.contains(id) else { continue }
            // Made and deleted before any save.
            if object.isDeleted, context.registeredObject(for: id) == nil { continue }
            guard let row = rows[id] else {
                if let problem = try goneProblem(state) { return "\(name): \(id) \(problem)" }
                continue
            }
            if object.isDeleted { return "\(name): \(id) is found and deleted" }
            let values = try DerivedFamily.values(of: object)
            if values != row { return "\(name): \(id) shows \(values), and its row is \(row)" }
            guard isMove else { continue }
            if values != state.values, !told.contains(id) {
                return "\(name): \(id) was \(state.values) and is \(values), and nothing was announced"
            }
            let note = try object.note()
            if note != state.note, !told.contains(id), id != reread { return "\(name): \(id) lost its transient value" }
        }
        if !context.unreportedErrors.isEmpty { return "\(name): \(context.unreportedErrors)" }
        return nil
    }

    /// An object that is not in the state that the context shows, and whose deletion is not pending here.
    private func goneProblem(_ state: State) throws -> String? {
        let object = state.object
        // Changed here too: the next save is to settle that.
        if object.hasChanges {
            return try DerivedFamily.values(of: object) == state.values || !state.wasPending
                ? nil : "was \(state.values) and is \(try DerivedFamily.values(of: object))"
        }
        guard object.isDeleted else { return "is not found and not deleted" }
        if object.isFault { return "has lost its values" }
        let committed = try object.committedValues(forKeys: nil)
        return committed == state.committed ? nil : "was \(state.committed) and is \(committed)"
    }

    /// Holds every object that is there, with what it shows.
    func remember(_ changes: inout DerivedChanges) throws {
        states = states.filter { $0.value.object.managedObjectContext === context && !$0.value.object.isDeleted }
        for entity in DerivedFamily.keys.keys.sorted() {
            for object in try context.all(entity).sorted(by: { $0.objectID < $1.objectID }) {
                if entity == "Order", changes.chance(4) == 0 {
                    try object.setValue("note \(changes.chance(100))", forKey: "note")
                }
                states[object.objectID] = State(
                    object: object, values: try DerivedFamily.values(of: object),
                    committed: try object.committedValues(forKeys: nil), note: try object.note(),
                    wasPending: object.hasChanges)
            }
        }
    }
}

extension ManagedObject {
    fileprivate func note() throws -> String? { entity.name == "Order" ? try value(forKey: "note") as? String : nil }
}

private struct HeldObjectsRun {
    var family: DerivedFamily
    let held: [HeldObjects]
    private var isMove = false

    init(seed: UInt64) throws {
        family = try DerivedFamily(seed: seed)
        held = [
            HeldObjects("context", family.context), HeldObjects("child", family.child),
            HeldObjects("other", family.other),
        ]
        for objects in held { try objects.remember(&family.changes) }
    }

    func begin() {
        for objects in held {
            objects.context.processPendingChanges()
            objects.told = []
        }
    }

    /// A step; then, now and then, the other contexts move too.
    mutating func step() throws -> String {
        let text = try family.step()
        isMove = ["refresh", "merge "].contains { text.hasPrefix($0) } && !text.contains("keeping")
        guard isMove, family.changes.chance(2) == 0 else { return text }
        family.child.refreshAllObjects()
        family.other.refreshAllObjects()
        return text + ", all"
    }

    mutating func problem() throws -> String? {
        for objects in held {
            if let problem = try objects.problem(isMove: isMove, family.reread) { return problem }
        }
        for objects in held { try objects.remember(&family.changes) }
        return nil
    }
}
