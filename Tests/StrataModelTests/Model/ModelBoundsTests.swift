@testable import StrataModel
import Testing

/// Models from files may be of any size. What is too large is refused before anything takes long, and what is allowed
/// takes time linear in it.
@Suite struct ModelBoundsTests {
    private func refusal(
        _ entities: [EntityDescription], sourceLocation: SourceLocation = #_sourceLocation
    ) -> [String] {
        let error = #expect(throws: StrataError.self, sourceLocation: sourceLocation) {
            try ManagedObjectModel(entities: entities)
        }
        #expect(error?.code == .invalidModel, sourceLocation: sourceLocation)
        return error?.details.map(\.message) ?? []
    }

    private func attributes(_ count: Int) -> [PropertyDescription] { (0..<count).map { attribute("a\($0)") } }

    /// - Parameter top: the parent of the first.
    private func chain(_ count: Int, top: String? = nil) -> [EntityDescription] {
        (0..<count).map { entity("E\($0)", parent: $0 == 0 ? top : "E\($0 - 1)") }
    }

    @Test(.timeLimit(.minutes(5))) func longChainsOfParentsAreRefusedAtOnce() throws {
        for count in [65, 4_000, 60_000] {
            #expect(refusal(chain(count)).contains("E64 is 65 levels deep; 64 is the maximum."))
            #expect(refusal(chain(count).reversed()).count == count - 64)
        }
        #expect(try ManagedObjectModel(entities: chain(64)).entities.count == 64)
    }

    @Test(.timeLimit(.minutes(5))) func longCirclesOfParentsAreRefusedAtOnce() throws {
        for count in [65, 4_000, 60_000] {
            let messages = refusal(chain(count, top: "E\(count - 1)"))
            #expect(
                !messages.isEmpty && messages.allSatisfy { $0.hasSuffix("is its own ancestor, or has one that is.") })
        }
        #expect(refusal(chain(3, top: "E2")).first == "E0 is its own ancestor, or has one that is.")
    }

    @Test(.timeLimit(.minutes(5))) func manyPropertiesAreRefusedAtOnce() throws {
        #expect(refusal([entity("A", attributes(60_000))]) == ["A has 60000 properties; 4096 is the maximum."])
        let parent = entity("A", attributes(4_096))
        #expect(try ManagedObjectModel(entities: [parent]).entities.count == 1)
        #expect(
            refusal([parent, entity("B", [attribute("b")], parent: "A")])
                == ["B has 4097 properties; 4096 is the maximum."])
    }

    @Test(.timeLimit(.minutes(5))) func whatInheritanceMultipliesIsBounded() throws {
        let children = (0..<1_000).map { entity("B\($0)", parent: "A") }
        #expect(
            refusal([entity("A", attributes(1_000))] + children)
                == [
                    "The model has 1001000 properties and indexes, inherited ones counted for each entity; 1000000 is the "
                        + "maximum."
                ])
        let links = (0..<4_000).map { toOne("r\($0)", "A", alone: true) }
        #expect(
            refusal([entity("A"), entity("C", links)] + children)
                == [
                    "The model has relationships that lead to 4004000 entities, subentities counted; 4000000 is the maximum."
                ])
        #expect(
            refusal((0...60_000).map { entity("E\($0)") }) == ["The model has 60001 entities; 60000 is the maximum."])
    }

    /// Everything that is made of a model when a store is opened.
    @Test(.timeLimit(.minutes(5)), arguments: [(20_000, 3), (15, 4_000), (900, 64)])
    func largeModelsThatAreAllowedAreMadeQuickly(count: Int, properties: Int) throws {
        let entities = (0..<count).map { number in
            entity(
                "E\(number)", attributes(properties) + [toOne("r", "E\((number + 1) % count)", alone: true)])
        }
        let model = try ManagedObjectModel(entities: entities)
        let schema = try Schema(
            version: ModelVersion(rawValue: 1), model: model,
            assignment: try ModelAssignment().extended(for: model, from: nil))
        #expect(schema.links.all.count == count)
        let next = try schema.assignment.extended(for: model, from: schema)
        #expect(next.nextProperty == schema.assignment.nextProperty)
    }
}
