import Foundation
import StrataModel
import StrataStore
import Testing

/// Erasures where derived attributes of other objects have copies of the values.
@Suite struct ErasedCopyTests {
    private static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Author",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string, isOptional: true)),
                    .relationship(
                        RelationshipDescription(
                            name: "books", destinationEntityName: "Book", inverseName: "author", isToMany: true)),
                    .relationship(
                        RelationshipDescription(
                            name: "account", destinationEntityName: "Account", inverseName: "holder")),
                ]),
            EntityDescription(
                name: "Book",
                properties: [
                    .attribute(AttributeDescription(name: "title", type: .string, isOptional: true)),
                    .attribute(
                        AttributeDescription(
                            name: "by", type: .string, isOptional: true,
                            derivationExpression: .keyPath("author.name"))),
                    .relationship(
                        RelationshipDescription(
                            name: "author", destinationEntityName: "Author", inverseName: "books")),
                ], indexes: [FetchIndexDescription(name: "byAuthor", elements: [FetchIndexElement("by")])]),
            EntityDescription(
                name: "Account",
                properties: [
                    .attribute(
                        AttributeDescription(
                            name: "label", type: .string, isOptional: true,
                            derivationExpression: .keyPath("holder.name"))),
                    .relationship(
                        RelationshipDescription(
                            name: "holder", destinationEntityName: "Author", inverseName: "account")),
                ]),
        ])
    }

    @Test func derivedCopiesInOtherObjectsGo() throws {
        let folder = try ErasureFolder()
        let fixture = try StoreFixture(.directory(folder.store), model: Self.model())
        let secret = try fixture.insert("Author", ["name": .string("SecretName")])
        let other = try fixture.insert("Author", ["name": .string("Public")])
        let stays = try fixture.insert("Book", ["title": .string("one"), "author": .objectID(secret)])
        let moves = try fixture.insert("Book", ["title": .string("two"), "author": .objectID(secret)])
        try fixture.update(secret, ["name": .string("SecretOther")])
        let then = try fixture.store.head()
        #expect(try fixture.values(stays)?["by"] == .string("SecretOther"))
        try fixture.update(moves, ["author": .objectID(other)])
        let report = try fixture.store.erase(ErasureRequest(objects: [secret], note: ErasureFixture.note()))
        #expect(report.isComplete)
        #expect(try folder.scan(for: ["Secret"]) == [:])
        #expect(try fixture.values(moves)?["by"] == .string("Public"))
        #expect(try fixture.values(stays)?["by"] == .null)
        #expect(try fixture.values(moves, at: then)?["by"] == .null)
        #expect(try fixture.values(moves, at: then)?["title"] == .string("two"))
        #expect(try fixture.store.rebuild().isUnchanged)
    }

    @Test(arguments: [nil, ["name"]] as [[String]?])
    func copiesFromBeforeATruncationGo(attributes: [String]?) throws {
        let folder = try ErasureFolder()
        let fixture = try StoreFixture(.directory(folder.store), model: Self.model())
        let secret = try fixture.insert("Author", ["name": .string("SecretName")])
        let other = try fixture.insert("Author", ["name": .string("Public")])
        let stays = try fixture.insert("Book", ["title": .string("one"), "author": .objectID(secret)])
        let moves = try fixture.insert("Book", ["title": .string("two"), "author": .objectID(secret)])
        let goes = try fixture.insert("Book", ["title": .string("three"), "author": .objectID(secret)])
        let account = try fixture.insert("Account", ["holder": .objectID(secret)])
        try fixture.update(secret, ["account": .objectID(account)])
        _ = try fixture.store.truncateHistory(through: try fixture.store.head(), MaintenanceNote(author: "ann"))
        try fixture.update(moves, ["author": .objectID(other)])
        try fixture.delete(goes)
        let report = try fixture.store.erase(
            ErasureRequest(objects: [secret], attributes: attributes, note: ErasureFixture.note()))
        #expect(report.isComplete)
        #expect(try folder.scan(for: ["Secret"]) == [:])
        #expect(try fixture.values(moves)?["by"] == .string("Public"))
        #expect(try fixture.values(stays)?["by"] == .null)
        #expect(try fixture.values(account)?["label"] == .null)
        #expect(try fixture.store.rebuild().isUnchanged)
    }

    @Test(arguments: [nil, ["address"]] as [[String]?])
    func copiesOfElementsOfCompositesGo(attributes: [String]?) throws {
        let folder = try ErasureFolder()
        func text(_ name: String, from path: String? = nil) -> PropertyDescription {
            .attribute(
                AttributeDescription(
                    name: name, type: .string, isOptional: true, derivationExpression: path.map { .keyPath($0) }))
        }
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Author",
                properties: [
                    .attribute(
                        AttributeDescription(
                            name: "address", type: .composite, isOptional: true,
                            elements: [AttributeDescription(name: "city", type: .string, isOptional: true)])),
                    text("city", from: "address.city"),
                    .relationship(
                        RelationshipDescription(
                            name: "books", destinationEntityName: "Book", inverseName: "author", isToMany: true)),
                ]),
            EntityDescription(
                name: "Book",
                properties: [
                    text("place", from: "author.address.city"),
                    .relationship(
                        RelationshipDescription(
                            name: "author", destinationEntityName: "Author", inverseName: "books")),
                ]),
        ])
        let fixture = try StoreFixture(.directory(folder.store), model: model)
        let author = try fixture.insert("Author", ["address": .composite(["city": .string("SecretCity")])])
        let book = try fixture.insert("Book", ["author": .objectID(author)])
        #expect(try fixture.values(author)?["city"] == .string("SecretCity"))
        #expect(try fixture.values(book)?["place"] == .string("SecretCity"))
        let then = try fixture.store.head()
        let report = try fixture.store.erase(
            ErasureRequest(objects: [author], attributes: attributes, note: ErasureFixture.note()))
        #expect(report.isComplete)
        #expect(try folder.scan(for: ["Secret"]) == [:])
        #expect(try fixture.values(book)?["place"] == .null)
        #expect(try fixture.values(book, at: then)?["place"] == .null)
        #expect(try fixture.store.rebuild().isUnchanged)
    }

    @Test(arguments: [nil, ["name"]] as [[String]?])
    func copiesWhoseAttributeHasLeftTheModelGo(attributes: [String]?) throws {
        let folder = try ErasureFolder()
        var ids: [ObjectID] = []
        do {
            let fixture = try StoreFixture(.directory(folder.store), model: Self.model())
            let secret = try fixture.insert("Author", ["name": .string("SecretName")])
            let stays = try fixture.insert("Book", ["title": .string("one"), "author": .objectID(secret)])
            let leaves = try fixture.insert("Book", ["title": .string("two"), "author": .objectID(secret)])
            try fixture.update(leaves, ["author": .null])
            ids = [secret, stays, leaves]
        }
        let model = try ManagedObjectModel(
            entities: Self.model().entities.filter { $0.name != "Account" }.map { entity in
                var entity = entity
                entity.properties.removeAll { ["by", "account"].contains($0.name) }
                entity.indexes = []
                return entity
            })
        let fixture = try StoreFixture(.directory(folder.store), model: model)
        let report = try fixture.store.erase(
            ErasureRequest(objects: [ids[0]], attributes: attributes, note: ErasureFixture.note()))
        #expect(report.isComplete)
        #expect(try folder.scan(for: ["Secret"]) == [:])
        #expect(try fixture.values(ids[1])?["title"] == .string("one"))
        #expect(try fixture.values(ids[2])?["title"] == .string("two"))
        #expect(try fixture.store.rebuild().isUnchanged)
    }
}
