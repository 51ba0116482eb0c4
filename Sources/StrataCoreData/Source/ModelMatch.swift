import Foundation
import StrataModel

/// Compares a given model with that of a file.
///
/// Core Data's version hashes cannot be computed here: how they are made is not published. Where the file has its
/// model, the two models are compared by their stored properties; otherwise by the names of the entities that have
/// hashes.
enum ModelMatch {
    /// - Parameters:
    ///   - cached: the model in the file; nil if it has none that can be read.
    ///   - hashed: the names of the entities with version hashes.
    static func notes(
        _ given: ManagedObjectModel, _ cached: ManagedObjectModel?, hashed: Set<String>
    ) -> [String] {
        if let cached { return Self.notes(given, cached) }
        guard !hashed.isEmpty else { return ["the model was compared with the tables alone; the file has no other"] }
        let names = Set(given.entities.map(\.name))
        return hashed.subtracting(names).sorted().map { "\($0): the given model lacks this entity of the file" }
            + names.subtracting(hashed).sorted().map { "\($0): the file has no version hash of this entity" }
            + ["the model was compared with the file's version hashes by the names of entities alone"]
    }

    private static func notes(_ given: ManagedObjectModel, _ cached: ManagedObjectModel) -> [String] {
        var notes: [String] = []
        var equal = 0
        for entity in cached.entities.sorted(by: { $0.name < $1.name }) {
            guard let other = given.entitiesByName[entity.name] else {
                notes.append("\(entity.name): the given model lacks this entity of the file")
                continue
            }
            if other.versionHash == entity.versionHash {
                equal += 1
            } else {
                notes.append(
                    "\(entity.name): the given model stores it otherwise than the file's\(differences(other, entity))")
            }
        }
        for entity in given.entities.sorted(by: { $0.name < $1.name }) where cached.entitiesByName[entity.name] == nil {
            notes.append("\(entity.name): the model in the file lacks this entity")
        }
        notes.append(
            "\(equal) of \(cached.entities.count) entities are stored alike by the given model and the one in the file")
        return notes
    }

    /// The names of properties that one of the entities lacks or has otherwise.
    private static func differences(_ given: EntityDescription, _ cached: EntityDescription) -> String {
        func stored(_ entity: EntityDescription) -> [String: PropertyDescription] {
            let properties = entity.properties.filter { !$0.isTransient }.map { ($0.name, $0) }
            return Dictionary(properties, uniquingKeysWith: { first, _ in first })
        }
        func hash(_ property: PropertyDescription?) -> String? {
            property.map { EntityDescription(name: "", properties: [$0]).versionHash.base64EncodedString() }
        }
        let (mine, theirs) = (stored(given), stored(cached))
        let names = Set(mine.keys).union(theirs.keys).filter { hash(mine[$0]) != hash(theirs[$0]) }.sorted()
        return names.isEmpty ? "" : ": \(names.joined(separator: ", "))"
    }
}
