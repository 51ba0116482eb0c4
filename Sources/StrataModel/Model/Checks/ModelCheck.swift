/// Checks a list of entities, collects all problems, and resolves the inverses. Its extensions check one part each.
struct ModelCheck {
    let hierarchy: EntityHierarchy
    /// The name of the inverse of each relationship whose inverse only the other side names.
    var filledInverses: [EntityHierarchy.PropertyKey: String] = [:]
    private var problems: [StrataError]
    private let mostProblems: Int

    /// - Parameters:
    ///   - entities: checked for their number and sizes at once. Nothing else is checked of a model that is too large.
    ///   - mostProblems: after more problems, the rest is not checked.
    init(_ entities: [EntityDescription], mostProblems: Int = .max) {
        self.mostProblems = mostProblems
        problems = ModelBounds(entities).problems
        hierarchy = EntityHierarchy(problems.isEmpty ? entities : [])
    }

    var entities: [EntityDescription] { hierarchy.entities }
    var problemCount: Int { problems.count }

    /// The problems in order of entity, property and sentence.
    var sortedProblems: [StrataError] {
        func order(_ problem: StrataError) -> (String, String, String) {
            (problem.context.entityName ?? "", problem.context.key ?? "", problem.message)
        }
        return problems.sorted { order($0) < order($1) }
    }

    /// The entities with every inverse named on both sides.
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

    /// Runs all checks.
    mutating func run() {
        checkEntityNames()
        for entity in entities {
            checkHierarchy(of: entity)
            checkPropertyNames(of: entity)
            for property in entity.properties {
                if problems.count > mostProblems { return }
                switch property {
                case .attribute(let attribute):
                    check(attribute, at: Subject(entity.name, attribute.name))
                    checkDerivation(of: attribute, in: entity)
                case .relationship(let relationship): check(relationship, of: entity)
                }
            }
            checkIndexes(of: entity)
            checkSubjects(of: entity)
            checkPredicates(of: entity)
            checkFullText(of: entity)
        }
        checkInverses()
    }

    /// The subject of a problem: an entity, or a property of it, or a dotted path into a composite.
    struct Subject {
        let entityName: String
        let key: String?

        init(_ entityName: String, _ key: String? = nil) {
            self.entityName = entityName
            self.key = key
        }

        var text: String { key.map { "\(entityName).\($0)" } ?? entityName }
    }

    /// Records a problem; `sentence` follows the name of the subject.
    mutating func report(_ subject: Subject, _ sentence: String) {
        problems.append(
            StrataError(
                .invalidModel, "\(subject.text) \(sentence)",
                context: .init(entityName: subject.entityName, key: subject.key)))
    }
}
