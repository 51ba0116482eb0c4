import Foundation
import StrataGraph
import StrataModel
import Testing

/// Two relationships without inverse that a new model makes each other's inverse: the links of both are kept, or the
/// migration names the objects that would have to lead to two.
@Suite struct JoinedRelationshipTests {
    struct Ends: Sendable, CustomTestStringConvertible {
        var isForthToMany: Bool
        var isBackToMany: Bool
        var isOrdered = false

        var testDescription: String {
            "to-\(isForthToMany ? "many" : "one") and to-\(isBackToMany ? "many" : "one")\(isOrdered ? ", ordered" : "")"
        }
    }

    static let ends = [
        Ends(isForthToMany: false, isBackToMany: false), Ends(isForthToMany: true, isBackToMany: false),
        Ends(isForthToMany: true, isBackToMany: false, isOrdered: true), Ends(isForthToMany: false, isBackToMany: true),
        Ends(isForthToMany: false, isBackToMany: true, isOrdered: true), Ends(isForthToMany: true, isBackToMany: true),
        Ends(isForthToMany: true, isBackToMany: true, isOrdered: true),
    ]

    private let directory = FileManager.default.temporaryDirectory.appending(path: "joined-\(UUID().uuidString)")

    private func container(_ ends: Ends, isJoined: Bool) throws -> PersistentContainer {
        func end(_ name: String, _ target: String, _ inverse: String, isToMany: Bool) -> PropertyDescription {
            isToMany
                ? Porting.many(name, target, isJoined ? inverse : nil, isOrdered: ends.isOrdered)
                : Porting.one(name, target, isJoined ? inverse : nil)
        }
        let name = Porting.attribute("name", .string)
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Shelf", properties: [name, end("books", "Book", "shelves", isToMany: ends.isForthToMany)]),
            EntityDescription(
                name: "Book", properties: [name, end("shelves", "Shelf", "books", isToMany: ends.isBackToMany)]),
        ])
        return PersistentContainer(
            name: "Joined", model: model, at: .url(directory), options: .init(durability: .disposable))
    }

    /// Two shelves and two books with these links under the old model: `S1.books=B2,B1`.
    private func fill(_ ends: Ends, _ links: String...) throws {
        try withLoaded(try container(ends, isJoined: false)) { context in
            var made: [String: ManagedObject] = [:]
            for name in ["S1", "S2", "B1", "B2"] {
                made[name] = try context.make(name.hasPrefix("S") ? "Shelf" : "Book", ["name": name])
            }
            for link in links {
                let parts = link.split(whereSeparator: { ".=,".contains($0) }).map(String.init)
                let targets = parts.dropFirst(2).compactMap { made[$0] }
                let isToMany = parts[1] == "books" ? ends.isForthToMany : ends.isBackToMany
                try made[parts[0]]?.setValue(isToMany ? targets as Any : targets[0], forKey: parts[1])
            }
        }
    }

    /// The links under the new model from both ends, each in the form of `fill`.
    private func links(_ ends: Ends) throws -> Set<String> {
        try withLoaded(try container(ends, isJoined: true)) { context in
            var found: Set<String> = []
            for (entity, key) in [("Shelf", "books"), ("Book", "shelves")] {
                for object in try context.find(entity) {
                    let value = try object.value(forKey: key)
                    let targets = value as? [ManagedObject] ?? (value as? ManagedObject).map { [$0] } ?? []
                    let names = try targets.compactMap { try $0.text() }
                    guard let name = try object.text(), !names.isEmpty else { continue }
                    found.insert("\(name).\(key)=\((ends.isOrdered ? names : names.sorted()).joined(separator: ","))")
                }
            }
            return found
        }
    }

    private func refusal(_ ends: Ends) throws -> Set<String> {
        let container = try container(ends, isJoined: true)
        let error = thrownError { try container.loadPersistentStores() }
        #expect(error?.code == .migration)
        return Set(error?.details.map { "\($0.code) \($0.context.entityName ?? "")" } ?? [])
    }

    @Test(arguments: ends, ["S1.books=B2", "B2.shelves=S1"])
    func aLinkThatOneEndHasIsSeenFromBoth(ends: Ends, link: String) throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try fill(ends, link)
        #expect(try links(ends) == ["S1.books=B2", "B2.shelves=S1"])
    }

    @Test(arguments: ends) func aLinkThatBothEndsHaveIsOne(ends: Ends) throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try fill(ends, "S1.books=B2", "B2.shelves=S1")
        #expect(try links(ends) == ["S1.books=B2", "B2.shelves=S1"])
    }

    @Test(arguments: [true, false]) func theMembersKeepTheirOrder(hasBothEnds: Bool) throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let ends = Ends(isForthToMany: true, isBackToMany: false, isOrdered: true)
        if hasBothEnds {
            try fill(ends, "S1.books=B2,B1", "B1.shelves=S1", "B2.shelves=S1")
        } else {
            try fill(ends, "S1.books=B2,B1")
        }
        #expect(try links(ends) == ["S1.books=B2,B1", "B1.shelves=S1", "B2.shelves=S1"])
    }

    @Test(arguments: ends.filter { !$0.isForthToMany || !$0.isBackToMany })
    func anObjectThatWouldLeadToTwoIsNamed(ends: Ends) throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try fill(ends, "S1.books=B2", ends.isBackToMany ? "B1.shelves=S1" : "B2.shelves=S2")
        let refused = try refusal(ends)
        #expect(refused.contains("validationRelationshipExceedsMaximumCount \(ends.isBackToMany ? "Shelf" : "Book")"))
        try withLoaded(try container(ends, isJoined: false)) { try #expect($0.find("Book").count == 2) }
    }

    @Test func aToOneThatBecomesItsOwnInverseLeadsBothWays() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        func container(_ inverse: String?) throws -> PersistentContainer {
            let person = EntityDescription(
                name: "Person",
                properties: [Porting.attribute("name", .string), Porting.one("spouse", "Person", inverse)])
            return PersistentContainer(
                name: "Joined", model: try ManagedObjectModel(entities: [person]), at: .url(directory),
                options: .init(durability: .disposable))
        }
        try withLoaded(try container(nil)) { context in
            let bob = try context.make("Person", ["name": "bob"])
            try context.make("Person", ["name": "Ann", "spouse": bob])
        }
        let spouses = try withLoaded(try container("spouse")) { context in
            try context.find("Person", sortedBy: [SortDescription("name")]).map { person in
                try (person.value(forKey: "spouse") as? ManagedObject)?.text()
            }
        }
        #expect(spouses == ["bob", "Ann"])
    }
}
