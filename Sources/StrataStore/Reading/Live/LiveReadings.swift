import StrataModel

/// Everything that a request reads to find its objects, to sort them and to show them.
struct LiveReadings: Sendable {
    private(set) var readings: [LiveReading] = []
    private(set) var pairs: [LivePairs] = []
    /// The reason why single objects cannot be judged on their own; nil if they can.
    private(set) var obstacle: String?
    private let schema: Schema
    private let root: EntitySchema
    private var isSettling = true

    init(_ request: StoreRequest, _ root: EntitySchema, _ schema: Schema, observing keyPaths: [String]?) {
        self.schema = schema
        self.root = root
        let start = LivePosition(entity: root.id)
        _ = reading(at: start)
        if let predicate = request.predicate { note(predicate, [:]) }
        if request.sort.contains(where: \.isRelevance) { obstacle = "how relevant a text is depends on all texts" }
        for column in request.sort where !column.isRelevance { _ = note(path: column.keyPath, from: start) }
        isSettling = false
        if let keyPaths {
            for path in keyPaths { _ = note(path: path, from: start) }
        } else {
            noteMemberships(at: start)
        }
    }

    /// Collects the properties that lead to the values at the end of key paths.
    init(paths: [String], _ root: EntitySchema, _ schema: Schema) {
        self.schema = schema
        self.root = root
        let start = LivePosition(entity: root.id)
        for path in paths { _ = note(path: path, from: start) }
    }

    // MARK: Expressions

    private typealias Variables = [String: LivePosition]

    private mutating func note(_ predicate: FetchPredicate, _ variables: Variables) {
        let parts = predicate.parts
        for part in parts.predicates { note(part, variables) }
        for part in parts.expressions { _ = note(part, variables) }
    }

    /// - Returns: the objects that the expression yields, if it yields objects.
    private mutating func note(_ expression: FetchExpression, _ variables: Variables) -> LivePosition? {
        switch expression {
        case .evaluatedObject: return LivePosition(entity: root.id)
        case .keyPath(let path): return note(path: path, from: LivePosition(entity: root.id))
        case .variable(let name): return variables[name]
        case .keyPathOf(let base, let path):
            guard let start = note(base, variables) else {
                obstacle = "\(base) leads to objects that the request does not say"
                return nil
            }
            return note(path: path, from: start)
        case .subquery(let collection, let variable, let condition):
            guard let members = note(collection, variables) else {
                obstacle = "\(collection) leads to objects that the request does not say"
                return nil
            }
            note(condition, variables.merging([variable: members]) { $1 })
            return members
        case .element(let list, _): obstacle = "\(list) is read by index"
        case .function(.matchesText, let arguments) where arguments.first == .evaluatedObject:
            guard let text = try? IndexMap.of(schema).texts.text(of: root, schema) else {
                obstacle = "\(root.name) has no full text that can be looked up"
                break
            }
            for name in text.names { _ = note(path: name, from: LivePosition(entity: root.id)) }
        case .function(let function, _):
            if [.now, .random, .randomBelow, .elementAt].contains(function) {
                obstacle = "\(function.rawValue) is not a function of the objects alone"
            }
        default: break
        }
        let parts = expression.parts
        for part in parts.predicates { note(part, variables) }
        for part in parts.expressions { _ = note(part, variables) }
        return nil
    }

    // MARK: Paths

    /// - Returns: the objects at the end of the path; nil if it ends at a value.
    private mutating func note(path: String, from start: LivePosition) -> LivePosition? {
        var position = start
        for step in path.split(separator: ".").map(String.init) {
            // Operators such as `@sum` read nothing themselves.
            if step.hasPrefix("@") || ["SELF", "self"].contains(step) { continue }
            guard let entity = schema.entity(position.entity), let property = entity.property(named: step) else {
                if step != "id", step != "objectID" { obstacle = "\(path) is no path of \(root.name)" }
                return nil
            }
            guard case .relationship(let relationship) = property.kind else {
                add(property.id, at: position)
                return nil
            }
            position = follow(property, relationship, from: position)
        }
        return position
    }

    private mutating func follow(
        _ property: PropertySchema, _ relationship: RelationshipSchema, from position: LivePosition
    ) -> LivePosition {
        let hop = LiveHop(property, relationship)
        let target = LivePosition(hops: position.hops + [hop], entity: relationship.destination)
        switch relationship.truth {
        case .slot: add(property.id, at: position)
        case .inverseSlot: if let toOne = relationship.inverse { add(toOne, at: target) }
        case .pair(let canonical):
            let link = LivePairs(
                hops: position.hops, canonical: canonical, isForward: canonical == property.id,
                isSymmetric: relationship.inverse == property.id, isSettling: isSettling, members: target.hops)
            if !pairs.contains(link) { pairs.append(link) }
        }
        touch(target)
        return target
    }

    /// To-manys of the fetched objects: a change of their members counts as an update.
    private mutating func noteMemberships(at start: LivePosition) {
        var seen: Set<PropertyID> = []
        for entity in root.entityIDs.compactMap({ schema.entity($0) }) {
            for property in entity.properties where seen.insert(property.id).inserted {
                guard let relationship = property.relationship, relationship.isToMany,
                    !relationship.description.isTransient
                else { continue }
                _ = follow(property, relationship, from: start)
            }
        }
    }

    // MARK: Readings

    private mutating func add(_ property: PropertyID, at position: LivePosition) {
        let index = reading(at: position)
        if isSettling { readings[index].settling.insert(property) } else { readings[index].observed.insert(property) }
    }

    private mutating func touch(_ position: LivePosition) { _ = reading(at: position) }

    private mutating func reading(at position: LivePosition) -> Int {
        let index: Int
        if let known = readings.firstIndex(where: { $0.hops == position.hops }) {
            index = known
        } else {
            index = readings.count
            readings.append(
                LiveReading(
                    hops: position.hops, entities: Set(schema.entity(position.entity)?.entityIDs ?? [])))
        }
        if isSettling { readings[index].isSettling = true } else { readings[index].isObserved = true }
        return index
    }
}
