/// An index of an entity: one of its fetch indexes, or the unique index of a uniqueness constraint.
package struct IndexDefinition {
    /// The beginning of the name of a constraint's index. The names of its properties follow, joined by commas.
    package static let uniquePrefix = "unique:"

    package let name: String
    package let elements: [FetchIndexElement]
    package let isUnique: Bool
    package let partialPredicate: FetchPredicate?

    /// The indexes that an entity declares itself: fetch indexes, then constraints.
    package static func all(of entity: EntityDescription) -> [IndexDefinition] {
        entity.indexes.map {
            IndexDefinition(
                name: $0.name, elements: $0.elements, isUnique: false, partialPredicate: $0.partialIndexPredicate)
        }
            + entity.uniquenessConstraints.map { names in
                IndexDefinition(
                    name: Self.uniquePrefix + names.joined(separator: ","),
                    elements: names.map { FetchIndexElement($0) }, isUnique: true, partialPredicate: nil)
            }
    }
}
