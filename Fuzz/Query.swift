// Requests against a model: every predicate that the format language can express for an entity is compiled, or refused
// with an error. A predicate that compiles does so again from its canonical form. The same for expressions as columns.
//
// The first byte chooses the entity and the use, the rest is the format string.

import Foundation
import StrataModel
import StrataStore

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    guard size > 1, let schema = Model.schema else { return 0 }
    let text = String(decoding: UnsafeBufferPointer(start: data + 1, count: size - 1), as: UTF8.self)
    let entities = schema.entities
    let entity = entities[Int(data[0] >> 1) % entities.count]
    data[0] & 1 == 0 ? checkPredicate(text, entity, schema) : checkExpression(text, entity, schema)
    return 0
}

private func checkPredicate(_ format: String, _ entity: EntitySchema, _ schema: Schema) {
    guard let predicate = try? FetchPredicate(format: format) else { return }
    let isCompiled = compiles(StoreRequest(entityID: entity.id, predicate: predicate), schema)
    // Writing adds parentheses, which may nest deeper than the parser allows.
    guard let again = try? FetchPredicate(format: predicate.description) else { return }
    precondition(compiles(StoreRequest(entityID: entity.id, predicate: again), schema) == isCompiled)
    // A request that can be fetched can be counted in groups.
    guard isCompiled else { return }
    let rows = RowsRequest(
        objects: StoreRequest(entityID: entity.id, predicate: predicate),
        columns: [OutputColumn("n", .function(.count, [.evaluatedObject]))])
    do { _ = try CompiledRows(rows, schema) } catch { preconditionFailure("no rows: \(predicate)\n\(error)") }
}

private func compiles(_ request: StoreRequest, _ schema: Schema) -> Bool {
    do throws(StrataError) {
        _ = try CompiledQuery(request, schema)
        return true
    } catch {
        precondition(!error.message.isEmpty)
        return false
    }
}

private func checkExpression(_ format: String, _ entity: EntitySchema, _ schema: Schema) {
    guard let expression = try? FetchExpression(format: format) else { return }
    let rows = RowsRequest(
        objects: StoreRequest(entityID: entity.id), columns: [OutputColumn("value", expression)])
    _ = try? CompiledRows(rows, schema)
}

/// An entity with every kind of attribute and of relationship.
private enum Model {
    static let schema: Schema? = try? make()

    private static func make() throws -> Schema {
        let types: [(String, AttributeType)] = [
            ("a", .integer16), ("b", .integer64), ("c", .double), ("d", .float), ("e", .decimal), ("f", .boolean),
            ("g", .string), ("h", .date), ("i", .uuid), ("j", .uri), ("k", .binaryData),
        ]
        let attributes = types.map {
            PropertyDescription.attribute(AttributeDescription(name: $0.0, type: $0.1, isOptional: true))
        }
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "X",
                properties: attributes + [
                    .relationship(
                        RelationshipDescription(name: "x", destinationEntityName: "Y", inverseName: "y")),
                    .relationship(
                        RelationshipDescription(
                            name: "z", destinationEntityName: "X", inverseName: "w", isToMany: true)),
                    .relationship(
                        RelationshipDescription(
                            name: "w", destinationEntityName: "X", inverseName: "z", isToMany: true)),
                ], indexes: [FetchIndexDescription(name: "byG", elements: [FetchIndexElement("g")])]),
            EntityDescription(
                name: "Y",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string)),
                    .relationship(
                        RelationshipDescription(
                            name: "y", destinationEntityName: "X", inverseName: "x", isToMany: true)),
                ]),
        ])
        return try Schema(
            version: ModelVersion(rawValue: 1), model: model,
            assignment: try ModelAssignment().extended(for: model, from: nil))
    }
}
