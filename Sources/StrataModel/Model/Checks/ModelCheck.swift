/// Looks for every fault of a list of entities, one part after another, and works out the inverses.
struct ModelCheck {
    let hierarchy: EntityHierarchy
    /// Relationship -> the name of its inverse, where only the other side names it.
    var filledInverses: [EntityHierarchy.PropertyKey: String] = [:]
    private var faults: [StrataError] = []

    init(_ entities: [EntityDescription]) {
        hierarchy = EntityHierarchy(entities)
    }

    var entities: [EntityDescription] { hierarchy.entities }
    var faultCount: Int { faults.count }

    /// In order of entity, property and sentence.
    var sortedFaults: [StrataError] {
        func order(_ fault: StrataError) -> (String, String, String) {
            (fault.context.entityName ?? "", fault.context.key ?? "", fault.message)
        }
        return faults.sorted { order($0) < order($1) }
    }

    /// The entities with both sides of every inverse named.
    var entitiesWithInverses: [EntityDescription] {
        entities.map { entity in
            var entity = entity
            entity.properties = entity.properties.map { property in
                let key = EntityHierarchy.PropertyKey(entityName: entity.name, name: property.name)
                guard case .relationship(var relationship) = property, let inverse = filledInverses[key] else {
                    return property
                }
                relationship.inverseName = inverse
                return .relationship(relationship)
            }
            return entity
        }
    }

    mutating func run() {
        checkEntityNames()
        for entity in entities {
            checkHierarchy(of: entity)
            checkPropertyNames(of: entity)
            for property in entity.properties {
                switch property {
                case .attribute(let attribute):
                    check(attribute, at: Place(entity.name, attribute.name))
                    checkDerivation(of: attribute, in: entity)
                case .relationship(let relationship): check(relationship, of: entity)
                }
            }
            checkIndexes(of: entity)
            checkPredicates(of: entity)
        }
        checkInverses()
    }

    /// Where a fault is: an entity, and in it a property or a dotted path into a composite.
    struct Place {
        let entityName: String
        let key: String?

        init(_ entityName: String, _ key: String? = nil) {
            self.entityName = entityName
            self.key = key
        }

        var text: String { key.map { "\(entityName).\($0)" } ?? entityName }
    }

    /// Records a fault; `sentence` goes on after the place's name.
    mutating func fault(_ place: Place, _ sentence: String) {
        faults.append(
            StrataError(
                .invalidModel, "\(place.text) \(sentence)",
                context: .init(entityName: place.entityName, key: place.key)))
    }
}
