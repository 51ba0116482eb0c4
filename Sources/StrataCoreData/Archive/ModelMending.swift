import StrataModel

/// Makes a valid model from that of a file: parts that Strata's model cannot express are changed or left out, and
/// noted.
struct ModelMending {
    private var content: ModelContent
    private var notes: [String]
    private var formerNames: [String: String] = [:]

    /// The number of times that the model is checked again.
    private static let rounds = 12
    /// The largest number of tables of a file; see `CoreDataFile`.
    private static let mostEntities = 4_000
    /// Far more parts than any model has that Strata cannot have. Each takes a time that grows with the model.
    private static let mostProblems = 1_000

    /// - Throws: `invalidModel` for a model that cannot be mended.
    static func model(_ content: ModelContent) throws(StrataError) -> ModelMending.Result {
        var mending = ModelMending(content: content, notes: content.notes)
        let checked = try mending.checked()
        let model = try mending.supplemented(checked)
        return Result(model: model, notes: mending.notes, formerNames: mending.formerNames)
    }

    struct Result {
        let model: ManagedObjectModel
        let notes: [String]
        /// The names in the file of renamed properties and entities, by `Entity.property` and `Entity`.
        let formerNames: [String: String]
    }

    private init(content: ModelContent, notes: [String]) {
        self.content = content
        self.notes = notes
    }

    private mutating func checked() throws(StrataError) -> ManagedObjectModel {
        guard content.entities.count <= Self.mostEntities else {
            throw StrataError(
                .invalidModel,
                "The model has \(content.entities.count) entities; \(Self.mostEntities) is the maximum.")
        }
        for _ in 0..<Self.rounds {
            do throws(StrataError) {
                return try ManagedObjectModel(entities: content.entities, mostProblems: Self.mostProblems)
            } catch {
                guard error.details.count <= Self.mostProblems else {
                    throw StrataError(
                        .invalidModel, "The model has more than \(Self.mostProblems) parts that Strata cannot have.",
                        details: Array(error.details.prefix(10)))
                }
                var isChanged = false
                for problem in error.details where mend(problem) { isChanged = true }
                guard isChanged else { throw error }
            }
        }
        return try ManagedObjectModel(entities: content.entities)
    }

    /// - Returns: whether something was changed.
    private mutating func mend(_ problem: StrataError) -> Bool {
        guard let name = problem.context.entityName,
            let entity = content.entities.firstIndex(where: { $0.name == name })
        else { return false }
        if let key = Self.key(of: problem.message) { return leaveOut(key, problem.message, of: entity) }
        let key = problem.context.key.map { String($0.prefix { $0 != "." }) }
        let isAboutElement = problem.context.key != key
        if problem.context.key == nil, Self.isAboutName(problem.message) { return rename(entity: name) }
        guard let key, let index = content.entities[entity].properties.firstIndex(where: { $0.name == key }) else {
            return leaveOut(problem.message, of: entity)
        }
        let owner = "\(name).\(key)"
        if mendComposite(at: index, of: entity, problem) { return true }
        if Self.isAboutName(problem.message) {
            guard !isAboutElement else { return false }
            rename(key, of: name, to: Self.legal(key))
            return true
        }
        switch content.entities[entity].properties[index] {
        case .attribute(var attribute):
            guard let what = Self.simplify(&attribute, problem.message) else { return false }
            notes.append("\(owner): \(what) is left out, because Strata refuses it (\(problem.message))")
            content.entities[entity].properties[index] = .attribute(attribute)
        case .relationship(var relationship):
            if problem.message.contains("renaming identifier") {
                relationship.renamingIdentifier = nil
            } else if problem.message.contains("inverse"), !relationship.hasNoInverse {
                (relationship.inverseName, relationship.hasNoInverse) = (nil, true)
            } else if relationship.minCount > 0 || relationship.maxCount > 0 {
                (relationship.minCount, relationship.maxCount) = (0, 0)
            } else {
                return false
            }
            notes.append("\(owner): the relationship is simplified, because Strata refuses it (\(problem.message))")
            content.entities[entity].properties[index] = .relationship(relationship)
        }
        return true
    }

    /// - Returns: whether the problem is about elements of a composite, and is mended.
    private mutating func mendComposite(at index: Int, of place: Int, _ problem: StrataError) -> Bool {
        let entity = content.entities[place]
        guard case .attribute(let attribute) = entity.properties[index], attribute.type == .composite else {
            return false
        }
        let path = (problem.context.key ?? "").split(separator: ".").map(String.init)
        let taken = Set(entity.properties.map(\.name))
        guard let mended = CompositeMending(attribute, at: path, problem.message, taken: taken) else { return false }
        content.entities[place].properties.replaceSubrange(
            index...index, with: mended.attributes.map { .attribute($0) })
        notes.append("\(entity.name).\(attribute.name): \(mended.note)")
        if let renamed = mended.renamed {
            let former = ([entity.name] + renamed.path.dropLast() + [renamed.from]).joined(separator: ".")
            let key = ([entity.name] + renamed.path).joined(separator: ".")
            formerNames[key] = formerNames.removeValue(forKey: former) ?? renamed.from
        }
        return true
    }

    /// - Returns: the part that was left out; nil if no part can be left out.
    private static func simplify(_ attribute: inout AttributeDescription, _ message: String) -> String? {
        if message.contains("renaming identifier") {
            attribute.renamingIdentifier = nil
            return "the renaming identifier"
        }
        if message.contains("default"), attribute.defaultValue != nil {
            attribute.defaultValue = nil
            return "the default value"
        }
        if attribute.derivationExpression != nil {
            attribute.derivationExpression = nil
            return "the derivation"
        }
        guard !attribute.validationRules.isEmpty else { return nil }
        attribute.validationRules = []
        return "its validation"
    }

    private enum Key {
        case index, constraint
    }

    /// Returns whether a problem is about an index or a constraint; nil for others. The property of such a problem is
    /// sound.
    private static func key(of message: String) -> Key? {
        if message.contains("uniqueness constraint over ") { return .constraint }
        return [" index ", " indexes named ", " index's "].contains(where: message.contains) ? .index : nil
    }

    /// Leaves out the index or constraint whose name is at the end of the sentence.
    ///
    /// - Returns: false if it is left out already.
    private mutating func leaveOut(_ key: Key, _ message: String, of place: Int) -> Bool {
        let entity = content.entities[place]
        switch key {
        case .index:
            let named = entity.indexes.lastIndex { index in
                ["index", "indexes named", "reserved name,"].contains { message.hasSuffix(" \($0) \(index.name).") }
                    || [", which uses ", " that is nested "].contains {
                        message.contains(" partial index \(index.name)\($0)")
                    }
            }
            let nameless = entity.indexes.lastIndex {
                $0.name.isEmpty || $0.name.utf8.count > ModelLimits.nameLengthInBytes
            }
            let isNameless = message.hasSuffix("index whose name is empty or too long.")
            guard let index = isNameless ? nameless : named else { return false }
            content.entities[place].indexes.remove(at: index)
            notes.append("\(entity.name): the index \(entity.indexes[index].name) is left out (\(message))")
        case .constraint:
            let found = entity.uniquenessConstraints.lastIndex { names in
                let end = "uniqueness constraint over \(names.joined(separator: ", "))"
                return message.hasSuffix("\(end).") || message.hasSuffix("\(end) twice.")
            }
            guard let index = found else { return false }
            content.entities[place].uniquenessConstraints.remove(at: index)
            notes.append("\(entity.name): a uniqueness constraint is left out (\(message))")
        }
        return true
    }

    /// Leaves out the renaming identifier or the rules of an entity.
    private mutating func leaveOut(_ message: String, of place: Int) -> Bool {
        var entity = content.entities[place]
        defer { content.entities[place] = entity }
        if message.contains("renaming identifier"), entity.renamingIdentifier != nil {
            entity.renamingIdentifier = nil
            notes.append("\(entity.name): the renaming identifier is left out (\(message))")
            return true
        }
        guard !entity.validationPredicates.isEmpty else { return false }
        entity.validationPredicates = []
        notes.append("\(entity.name): its validation is left out (\(message))")
        return true
    }

    // MARK: Names

    static func isAboutName(_ message: String) -> Bool {
        message.contains("reserved name") || message.contains("is not a name")
    }

    static func legal(_ name: String) -> String {
        let letters = name.map { $0.isLetter || $0.isNumber || $0 == "_" ? $0 : "_" }
        return (letters.first?.isNumber ?? true ? "_" : "") + String(letters) + "_"
    }

    private mutating func rename(entity name: String) -> Bool {
        let taken = Set(content.entities.map(\.name))
        var new = Self.legal(name)
        while taken.contains(new) { new += "_" }
        notes.append("\(name) is named \(new), because Strata's entities cannot have the name \(name)")
        for (key, former) in formerNames where key.hasPrefix("\(name).") {
            formerNames[key] = nil
            formerNames[new + key.dropFirst(name.count)] = former
        }
        formerNames[new] = formerNames.removeValue(forKey: name) ?? name
        for index in content.entities.indices {
            if content.entities[index].name == name { content.entities[index].name = new }
            if content.entities[index].superentityName == name { content.entities[index].superentityName = new }
            content.entities[index].properties = content.entities[index].properties.map { property in
                guard case .relationship(var relationship) = property, relationship.destinationEntityName == name
                else { return property }
                relationship.destinationEntityName = new
                return .relationship(relationship)
            }
        }
        func renamed(_ other: String) -> String { other == name ? new : other }
        for index in content.supplement.fetchRequestTemplates.indices {
            content.supplement.fetchRequestTemplates[index].entityName = renamed(
                content.supplement.fetchRequestTemplates[index].entityName)
        }
        for index in content.supplement.fetchedProperties.indices {
            var property = content.supplement.fetchedProperties[index]
            property.entityName = renamed(property.entityName)
            property.request.entityName = renamed(property.request.entityName)
            content.supplement.fetchedProperties[index] = property
        }
        for index in content.supplement.configurations.indices {
            let names = content.supplement.configurations[index].entityNames
            content.supplement.configurations[index].entityNames = names.map(renamed)
        }
        return true
    }

    private mutating func rename(_ name: String, of entityName: String, to new: String) {
        notes.append("\(entityName).\(name) is named \(new), because Strata's objects have a member \(name)")
        formerNames["\(entityName).\(new)"] = formerNames["\(entityName).\(name)"] ?? name
        for index in content.entities.indices {
            let isOwn = content.entities[index].name == entityName
            content.entities[index].properties = content.entities[index].properties.map { property in
                switch property {
                case .attribute(var attribute):
                    if isOwn, attribute.name == name { attribute.name = new }
                    return .attribute(attribute)
                case .relationship(var relationship):
                    if isOwn, relationship.name == name { relationship.name = new }
                    if relationship.inverseName == name, relationship.destinationEntityName == entityName {
                        relationship.inverseName = new
                    }
                    return .relationship(relationship)
                }
            }
            guard isOwn else { continue }
            content.entities[index].uniquenessConstraints = content.entities[index].uniquenessConstraints.map {
                $0.map { $0 == name ? new : $0 }
            }
            content.entities[index].indexes = content.entities[index].indexes.map { definition in
                var renamed = definition
                renamed.elements = definition.elements.map {
                    $0.propertyPath == name ? FetchIndexElement(new, isAscending: $0.isAscending) : $0
                }
                return renamed
            }
        }
    }

    // MARK: Requests and configurations

    private mutating func supplemented(_ model: ManagedObjectModel) throws(StrataError) -> ManagedObjectModel {
        var kept = ModelSupplement()
        for template in content.supplement.fetchRequestTemplates {
            if allows("the request \(template.name)", { try model.adding(fetchRequestTemplates: [template]) }) {
                kept.fetchRequestTemplates.append(template)
            }
        }
        for property in content.supplement.fetchedProperties {
            let name = "the fetched property \(property.entityName).\(property.name)"
            if allows(name, { try model.adding(fetchedProperties: [property]) }) {
                kept.fetchedProperties.append(property)
            }
        }
        for configuration in content.supplement.configurations {
            let name = "the configuration \(configuration.name)"
            if allows(name, { try model.adding(configurations: [configuration]) }) {
                kept.configurations.append(configuration)
            }
        }
        return try model.adding(
            fetchRequestTemplates: kept.fetchRequestTemplates, fetchedProperties: kept.fetchedProperties,
            configurations: kept.configurations, versionIdentifier: content.supplement.versionIdentifier)
    }

    private mutating func allows(_ what: String, _ add: () throws -> ManagedObjectModel) -> Bool {
        do {
            _ = try add()
            return true
        } catch {
            let refusal = error as? StrataError
            notes.append("\(what) is left out: \(refusal?.details.first?.message ?? refusal?.message ?? "\(error)")")
            return false
        }
    }
}
