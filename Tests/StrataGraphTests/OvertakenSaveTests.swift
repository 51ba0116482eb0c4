import Foundation
import StrataGraph
import StrataModel
import Testing

/// A movie whose `willSave` runs a piece of the test.
final class Overtaken: ManagedObject {
    nonisolated(unsafe) static var hook: (() -> Void)?

    var title: String {
        get { _get(Overtaken._propertyBase_Overtaken + 0) }
        set { _set(Overtaken._propertyBase_Overtaken + 0, newValue) }
    }
    var count: Int {
        get { _get(Overtaken._propertyBase_Overtaken + 1) }
        set { _set(Overtaken._propertyBase_Overtaken + 1, newValue) }
    }

    override func willSave() { Overtaken.hook?() }

    nonisolated static var _propertyBase_Overtaken: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_Overtaken: Int { _propertyBase_Overtaken + 2 }
    nonisolated override class var entityName: String { "Overtaken" }
    nonisolated override class var _validatesValues: Bool { false }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Overtaken.self, superclass: ManagedObject.self) { Overtaken._describe_Overtaken(&$0) }
    }
    nonisolated static func _describe_Overtaken<Leaf: Overtaken>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.title, "title", default: "")
        entity.property(\Leaf.count, "count", default: 0)
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Overtaken._propertyBase_Overtaken {
        case 0: visitor.visit(self, \Overtaken.title)
        case 1: visitor.visit(self, \Overtaken.count)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension Overtaken: ManagedEntity {}

/// Counts up the `count` of one object, on a thread of its own, each time it is asked.
private final class Overtaker: @unchecked Sendable {
    private let container: PersistentContainer
    private let id: ObjectID
    private let asked = DispatchSemaphore(value: 0)
    private let done = DispatchSemaphore(value: 0)

    init(_ container: PersistentContainer, _ id: ObjectID) {
        self.container = container
        self.id = id
        Thread.detachNewThread { [self] in run() }
    }

    /// Whether it saved before the time was up.
    func overtake(within seconds: Double) -> Bool {
        asked.signal()
        return done.wait(timeout: .now() + seconds) == .success
    }

    func waitForTheLast() -> Bool { done.wait(timeout: .now() + 20) == .success }

    private func run() {
        do {
            let context = container.newBackgroundContext()
            let object = try context.existingObject(with: id, as: Overtaken.self)
            while true {
                asked.wait()
                context.refreshAllObjects()
                object.count += 1
                try context.save()
                done.signal()
            }
        } catch {
            Issue.record("\(error)")
        }
    }
}

/// Rule 7 of CONTRIBUTING.md: a save that others keep overtaking ends, because the third round holds the turn.
@Suite(.serialized, .verifiesStores) struct OvertakenSaveTests {
    @Test func aSaveThatIsAlwaysOvertakenEnds() throws {
        // The overtaker uses the same class; only the thread of the test has a hook to run.
        let container = try makeContainer([Overtaken.self])
        let context = container.newBackgroundContext()
        let object = Overtaken(context: context)
        try context.save()
        let overtaker = Overtaker(container, object.objectID)
        let mine = Thread.current
        var rounds = 0
        var overtaken = 0
        Overtaken.hook = {
            guard Thread.current === mine else { return }
            rounds += 1
            if overtaker.overtake(within: rounds < 3 ? 20 : 0.3) { overtaken += 1 }
        }
        defer { Overtaken.hook = nil }
        object.title = "mine"
        try context.save()
        // Twice the other was first; the third time it waited until this save was done.
        #expect(rounds == 3 && overtaken == 2)
        #expect(overtaker.waitForTheLast())
        context.refreshAllObjects()
        #expect(object.title == "mine" && object.count == 3)
    }
}
