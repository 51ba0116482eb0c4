/// An index in a schema: its number, and the slots of its key.
package struct IndexSchema: Sendable {
    package let id: IndexID
    package let name: String
    /// The entity that declares it. The index has the rows of its subentities too.
    package let entityID: EntityID
    package let elements: [Element]
    package let isUnique: Bool
    package let partialPredicate: FetchPredicate?

    package struct Element: Sendable {
        package let propertyID: PropertyID
        /// The slot, which is the same in all subentities, because only declared properties can be indexed.
        package let slot: Int
        /// The names of elements on the path into a composite; empty for a plain property.
        package let compositePath: [String]
        package let isAscending: Bool
        package let folding: StringFolding

        package init(
            propertyID: PropertyID, slot: Int, compositePath: [String], isAscending: Bool, folding: StringFolding
        ) {
            self.propertyID = propertyID
            self.slot = slot
            self.compositePath = compositePath
            self.isAscending = isAscending
            self.folding = folding
        }
    }

    package init(
        id: IndexID, name: String, entityID: EntityID, elements: [Element], isUnique: Bool,
        partialPredicate: FetchPredicate?
    ) {
        self.id = id
        self.name = name
        self.entityID = entityID
        self.elements = elements
        self.isUnique = isUnique
        self.partialPredicate = partialPredicate
    }
}
