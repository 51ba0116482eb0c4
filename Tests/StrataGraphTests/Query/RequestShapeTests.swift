import Foundation
import StrataModel
import Testing

@testable import StrataGraph
@testable import StrataStore

/// A request brings the shape that its check compiled, and the store runs it where the schemas are the same.
///
/// The store that was opened last decides which schema a class is checked against, so the suite is serialized and has a
/// class of its own.
@Suite(.verifiesStores, .serialized) struct RequestShapeTests {
    @Test func aRequestBringsAShapeOfTheOpenStore() throws {
        let container = try makeContainer([Gauge.self])
        let context = container.newBackgroundContext()
        Gauge(context: context).name = "Ann"
        Gauge(context: context).name = "Ben"
        try context.save()
        var request = try FetchRequest<Gauge>(where: .equal("name", "Ann"))
        let shape = try #require(request.shape)
        #expect(shape.schema === container.store.schema)
        #expect(try FetchRequest<Gauge>(where: .equal("name", "Ben")).shape === shape)
        #expect(try request.limited(to: 1).shape === shape)
        #expect(try context.fetch(request).map(\.name) == ["Ann"])

        request.predicate = .beginsWith("name", "B")
        #expect(request.shape == nil)
        #expect(try context.fetch(request).map(\.name) == ["Ben"])
        let sorted = try request.sorted(by: \.name)
        #expect(sorted.shape != nil && sorted.shape !== shape)
        #expect(try context.fetch(sorted).map(\.name) == ["Ben"])
    }

    @Test func aStoreWithAnotherModelCompilesTheRequestItself() throws {
        let first = try makeContainer([Gauge.self])
        let request = try FetchRequest<Gauge>(where: .equal("name", "Ann"))
        let second = try makeContainer([Movie.self, FamilyMember.self, Gauge.self])
        for container in [first, second] {
            let context = container.newBackgroundContext()
            Gauge(context: context).name = "Ann"
            #expect(try context.fetch(request).count == 1)
        }
        #expect(try FetchRequest<Gauge>(where: .equal("name", "Ann")).shape?.schema === second.store.schema)
        let lastSchema = second.store.schema
        second.close()
        let checked = try FetchRequest<Gauge>(where: .equal("name", "Ann"))
        #expect(checked.shape != nil && checked.shape?.schema !== lastSchema)
        #expect(try first.newBackgroundContext().fetch(checked).isEmpty)
        #expect(thrownError { _ = try FetchRequest<Gauge>(where: .equal("nam", "Ann")) }?.code == .unknownKey)
    }

    /// A container's model may say other things of an entity than its class. Requests are checked by what the class says.
    @Test func aModelThatDiffersFromTheClassIsNotCheckedAgainst() throws {
        var entities = try ManagedObjectModel(entities: EntityDefinition.descriptions(of: [Gauge.self])).entities
        entities[0].userInfo["unit"] = "bar"
        let container = PersistentContainer(
            name: "Other", model: try ManagedObjectModel(entities: entities), entities: [Gauge.self], at: .inMemory)
        try container.loadPersistentStores()
        defer { container.close() }
        let request = try FetchRequest<Gauge>(where: .equal("name", "A"))
        #expect(request.shape != nil && request.shape?.schema !== container.store.schema)
        #expect(try container.newBackgroundContext().count(for: request) == 0)
    }

    @Test func aRequestThatDependsOnTheTimeIsCompiledForEachRun() throws {
        let container = try makeContainer([Gauge.self])
        let request = try FetchRequest<Gauge>(format: "read < now()")
        #expect(request.shape == nil)
        #expect(try container.newBackgroundContext().count(for: request) == 0)
    }
}

private final class Gauge: ManagedObject {
    var name: String {
        get { _get(Gauge._propertyBase_Gauge + 0) }
        set { _set(Gauge._propertyBase_Gauge + 0, newValue) }
    }
    var read: Date? {
        get { _get(Gauge._propertyBase_Gauge + 1) }
        set { _set(Gauge._propertyBase_Gauge + 1, newValue) }
    }

    nonisolated static var _propertyBase_Gauge: Int { ManagedObject._propertyEnd_ManagedObject }
    nonisolated static var _propertyEnd_Gauge: Int { _propertyBase_Gauge + 2 }
    nonisolated override class var entityName: String { "Gauge" }
    nonisolated override class var entityDefinition: EntityDefinition {
        EntityDefinition(Gauge.self, superclass: ManagedObject.self) { Gauge._describe_Gauge(&$0) }
    }
    nonisolated static func _describe_Gauge<Leaf: Gauge>(_ entity: inout EntityBuilder<Leaf>) {
        ManagedObject._describe_ManagedObject(&entity)
        entity.beginOwnProperties()
        entity.property(\Leaf.name, "name", .indexed)
        entity.property(\Leaf.read, "read")
    }
    override func _visitKeyPath<Visitor: _KeyPathVisitor>(at index: Int, _ visitor: inout Visitor) {
        switch index - Gauge._propertyBase_Gauge {
        case 0: visitor.visit(self, \Gauge.name)
        case 1: visitor.visit(self, \Gauge.read)
        default: super._visitKeyPath(at: index, &visitor)
        }
    }
}
extension Gauge: ManagedEntity {}
