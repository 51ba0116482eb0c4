/// Everything that determines the entries of an index. Two indexes with the same meaning can share their entries,
/// whatever their names.
struct IndexMeaning: Hashable {
    private struct Element: Hashable {
        let property: PropertyID
        let compositePath: [String]
        let keyForm: KeyForm
        let isAscending: Bool
        let folding: StringFolding
    }

    /// Types with the same encoding of keys, so that a number can be widened without rebuilding the index.
    private enum KeyForm: Hashable {
        case reference, integer, floatingPoint
        case other(AttributeType)

        init(_ type: AttributeType?) {
            self =
                switch type {
                case nil: .reference
                case .integer16, .integer32, .integer64: .integer
                case .float, .double: .floatingPoint
                case let type?: .other(type)
                }
        }
    }

    private let elements: [Element]
    private let isUnique: Bool
    private let partialPredicate: FetchPredicate?
    /// The entities whose rows the index has, as far as the other model has them too.
    private let coverage: Set<EntityID>

    /// nil if an element cannot be resolved, which never happens with a checked model and a complete assignment.
    init?(
        _ definition: IndexDefinition, of entity: EntityDescription, model: ManagedObjectModel,
        assignment: ModelAssignment, knownEntities: Set<EntityID>
    ) {
        var elements: [Element] = []
        for element in definition.elements {
            guard let part = model.hierarchy.keyPart(element.propertyPath, in: entity.name),
                let id = assignment.id(of: part.declaration.key)
            else { return nil }
            let attribute = part.elements.last ?? part.declaration.property.attribute
            elements.append(
                Element(
                    property: id, compositePath: part.elements.map(\.name), keyForm: KeyForm(attribute?.type),
                    isAscending: element.isAscending, folding: element.folding))
        }
        self.elements = elements
        isUnique = definition.isUnique
        partialPredicate = definition.partialPredicate
        let covered = [entity] + model.hierarchy.subentities(of: entity.name)
        coverage = Set(covered.filter { !$0.isAbstract }.compactMap { assignment.entities[$0.name] })
            .intersection(knownEntities)
    }
}
