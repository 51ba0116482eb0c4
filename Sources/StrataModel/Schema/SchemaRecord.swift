package import Foundation

/// A schema as a store keeps it: JSON with sorted keys, so that the same schema always has the same bytes.
package struct SchemaRecord: Sendable, Hashable, Codable {
    package let version: ModelVersion
    package let entities: [EntityDescription]
    package let assignment: ModelAssignment
    /// Requests, fetched properties, configurations and views; nil if the model has none.
    package let supplement: ModelSupplement?

    /// A longer record is rejected without reading it.
    package static let maximumSizeInBytes = 64 << 20

    package init(
        version: ModelVersion, entities: [EntityDescription], assignment: ModelAssignment,
        supplement: ModelSupplement? = nil
    ) {
        self.version = version
        self.entities = entities
        self.assignment = assignment
        self.supplement = supplement
    }

    package init(_ schema: Schema) {
        let supplement = ModelSupplement(schema.model)
        self.init(
            version: schema.version, entities: schema.model.entities, assignment: schema.assignment,
            supplement: supplement.isEmpty ? nil : supplement)
    }

    /// The bytes of the record.
    ///
    /// - Throws: `invalidModel` if the model cannot be written or is too large.
    package func encoded() throws(StrataError) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data: Data
        do { data = try encoder.encode(self) } catch {
            throw StrataError(
                .invalidModel, "The model cannot be written as JSON; the cause says which value.", cause: error)
        }
        guard data.count <= Self.maximumSizeInBytes else {
            throw StrataError(
                .invalidModel,
                "The model takes \(data.count) bytes; \(Self.maximumSizeInBytes) is the maximum.")
        }
        return data
    }

    /// Reads a schema and checks all of it.
    ///
    /// - Throws: `corrupt` with the problem as its cause.
    package static func schema(from data: Data) throws(StrataError) -> Schema {
        guard data.count <= maximumSizeInBytes else {
            throw StrataError(
                .corrupt, "The record of a model is \(data.count) bytes long; \(maximumSizeInBytes) is the maximum.")
        }
        do {
            let record = try JSONDecoder().decode(SchemaRecord.self, from: data)
            guard record.version.rawValue > 0 else {
                throw StrataError(.corrupt, "The record of a model has no version.")
            }
            let model = try record.model()
            return try Schema(version: record.version, model: model, assignment: record.assignment)
        } catch {
            throw StrataError(.corrupt, "The record of a model is damaged.", cause: error)
        }
    }

    private func model() throws(StrataError) -> ManagedObjectModel {
        let model = try ManagedObjectModel(entities: entities)
        guard let supplement else { return model }
        return try model.adding(
            fetchRequestTemplates: supplement.fetchRequestTemplates, fetchedProperties: supplement.fetchedProperties,
            configurations: supplement.configurations, views: supplement.views,
            versionIdentifier: supplement.versionIdentifier, editorInfo: supplement.editorInfo)
    }
}
