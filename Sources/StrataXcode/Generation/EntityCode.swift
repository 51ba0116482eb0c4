import StrataModel

/// The Swift code of one entity that both forms of classes share; `ClassForms.swift` has the forms themselves.
struct EntityCode {
    let entity: EntityDescription
    let model: ManagedObjectModel
    let names: CodeNames
    /// The access level: `public ` or nothing.
    let access: String
    let attributes: [AttributeCode]
    let relationships: [RelationshipCode]

    init(
        _ entity: EntityDescription, of model: ManagedObjectModel, _ names: CodeNames, access: String,
        _ types: inout TypeTable
    ) {
        self.entity = entity
        self.model = model
        self.names = names
        self.access = access
        var attributes: [AttributeCode] = []
        var relationships: [RelationshipCode] = []
        for property in entity.properties {
            switch property {
            case .attribute(let attribute): attributes.append(AttributeCode(attribute, of: entity, names, &types))
            case .relationship(let relationship):
                relationships.append(RelationshipCode(relationship, of: entity, model, names))
            }
        }
        self.attributes = attributes
        self.relationships = relationships
    }

    var className: String { names.class(entity.name) }
    var plainName: String { names.plainClass(entity.name) }
    var base: String { names.base(entity.name) }
    /// The class where a property of the same name would be taken for it.
    var classValue: String { names.classValue(entity.name) }
    var hasSubentities: Bool { model.entities.contains { $0.superentityName == entity.name } }
    var superclass: String {
        entity.superentityName.map { names.class($0) } ?? names.value("ManagedObject", of: "StrataGraph")
    }
    var superclassValue: String { entity.superentityName.map { names.classValue($0) } ?? superclass }
    var plainSuperclass: String { entity.superentityName.map { names.plainClass($0) } ?? "ManagedObject" }

    /// The arguments of `@Entity`, or of the entity's definition.
    var options: [String] {
        var options: [String] = []
        if entity.isAbstract { options.append(".abstract") }
        for names in entity.uniquenessConstraints {
            options.append(".unique(\(names.map(CodeLiteral.string).joined(separator: ", ")))")
        }
        options += entity.indexes.map(index)
        if let name = entity.renamingIdentifier { options.append(".renamed(from: \(CodeLiteral.string(name)))") }
        if let text = entity.versionHashModifier {
            options.append(".versionHashModifier(\(CodeLiteral.string(text)))")
        }
        if !entity.userInfo.isEmpty { options.append(".userInfo(\(CodeLiteral.dictionary(entity.userInfo)))") }
        return options
    }

    private func index(_ index: FetchIndexDescription) -> String {
        let elements = index.elements.map { element in
            let direction = element.isAscending ? "" : ", isAscending: false"
            let folding = element.folding.isEmpty ? "" : ", folding: .init(rawValue: \(element.folding.rawValue))"
            let made = self.names.value("FetchIndexElement", of: "StrataModel")
            return "\(made)(\(CodeLiteral.string(element.propertyPath))\(direction)\(folding))"
        }
        let made = names.value("FetchIndexDescription", of: "StrataModel")
        return ".index(\(made)(name: \(CodeLiteral.string(index.name)), "
            + "elements: [\(elements.joined(separator: ", "))]))"
    }

    var documentation: String {
        var sentence = "The entity `\(entity.name)`"
        if entity.isAbstract { sentence += ", which has no objects of its own" }
        if let parent = entity.superentityName { sentence += "; it is a `\(parent)`" }
        return "/// \(sentence)."
    }

    static func documentation(of attribute: AttributeCode) -> String {
        "/// \(attribute.attribute.type.name.first?.uppercased() ?? "")\(attribute.attribute.type.name.dropFirst()), "
            + attribute.facts.joined(separator: ", ") + "."
    }

    // MARK: Both forms

    /// The other name of the class; nil if it needs none.
    var alias: String? {
        guard classValue != className else { return nil }
        return """
            /// `\(plainName)`, where a property or parameter of that name would be taken for the class.
            \(access)typealias \(classValue) = \(className)
            """
    }

    /// Whether a property of the class has the name of the class or of one above it, or the class that of a parameter.
    var hidesItsClass: Bool {
        if CodeNames.locals.contains(plainName) { return true }
        let chain = sequence(first: entity) { [model] in $0.superentityName.flatMap(model.hierarchy.entity(named:)) }
        let classes = Set(chain.map { names.plainClass($0.name) })
        return model.properties(ofEntityNamed: entity.name).contains { classes.contains($0.name) }
    }

    var enumerations: [String] {
        attributes.compactMap(\.enumeration).filter(\.isDeclared).map { $0.text(access, names) }
    }

    /// An extension with requests, fetched properties, and accessors of to-many relationships; nil if it would be
    /// empty.
    var conveniences: String? {
        var members = [
            """
                /// Asks for all objects of the entity.
                \(access)static func fetchRequest() -> \(request)<\(className)> {
                    \(request)<\(className)>()
                }
            """
        ]
        let templates = model.fetchRequestTemplates.values.filter { $0.entityName == entity.name }
        var taken: Set<String> = ["fetchRequest"]
        members += templates.sorted { $0.name < $1.name }.map { requestFunction($0, &taken) }
        var suffixes: Set<String> = []
        // A function of a superclass's extension cannot be overridden.
        for parent in model.hierarchy.chain(of: entity.name) where parent.name != entity.name {
            for case .relationship(let relationship) in parent.properties where relationship.isToMany {
                _ = RelationshipCode.suffix(relationship.name, &suffixes)
            }
        }
        members += relationships.compactMap { $0.accessors(access, &suffixes) }
        members += model.fetchedProperties.filter { $0.entityName == entity.name }.map(fetchedProperty)
        return "extension \(className) {\n\(members.joined(separator: "\n\n"))\n}"
    }

    private var request: String { names.value("FetchRequest", of: "StrataGraph") }

    /// A function for a request of the model.
    ///
    /// - Parameter taken: the names of functions that exist already.
    private func requestFunction(_ template: FetchRequestTemplate, _ taken: inout Set<String>) -> String {
        let variables = (template.predicate?.freeVariables ?? []).sorted()
        let names = variables.map { CodeNames.escaped(CodeNames.identifier(of: $0)) }
        let argument = self.names.type("FetchArgument", of: "StrataModel")
        let parameters = names.map { "\($0): (any \(argument))?" }
        let values = zip(variables, names).map { "\(CodeLiteral.string($0)): \($1)" }
        let name = CodeNames.unique(CodeNames.identifier(of: template.name) + "Request", beside: taken)
        taken.insert(name)
        let condition = template.predicate?.description ?? "every object"
        return """
                /// The request `\(CodeLiteral.comment(template.name))` of the model: `\(CodeLiteral.comment(condition))`.
                \(access)static func \(name)(\(parameters.joined(separator: ", "))) throws -> \(request)<\(className)> {
                    try \(request)(
                        \(self.template(template)),
                        substituting: [\(values.isEmpty ? ":" : values.joined(separator: ", "))])
                }
            """
    }

    private func template(_ template: FetchRequestTemplate) -> String {
        var arguments = [
            "name: \(CodeLiteral.string(template.name))", "entityName: \(CodeLiteral.string(template.entityName))",
        ]
        if let predicate = template.predicate {
            let made = names.value("FetchPredicate", of: "StrataModel")
            arguments.append("where: \(made)(format: \(CodeLiteral.string(predicate.description)))")
        }
        if template.fetchLimit > 0 { arguments.append("limit: \(template.fetchLimit)") }
        if !template.includesSubentities { arguments.append("includesSubentities: false") }
        return "\(names.value("FetchRequestTemplate", of: "StrataModel"))(\(arguments.joined(separator: ", ")))"
    }

    private func fetchedProperty(_ property: FetchedPropertyDescription) -> String {
        let target = names.class(property.request.entityName)
        return """
                /// The objects that the model's request for `\(property.name)` finds, fetched again each time.
                \(access)var \(CodeNames.escaped(property.name)): [\(target)] {
                    get throws { try fetchedObjects(forKey: \(CodeLiteral.string(property.name))).compactMap { $0 as? \(target) } }
                }
            """
    }
}

/// The Swift declaration of a relationship.
struct RelationshipCode {
    let relationship: RelationshipDescription
    let type: String
    /// The argument with the inverse, if this side names it.
    private let inverse: String?
    private let target: String
    private let names: CodeNames

    init(
        _ relationship: RelationshipDescription, of entity: EntityDescription, _ model: ManagedObjectModel,
        _ names: CodeNames
    ) {
        self.relationship = relationship
        self.names = names
        let target = names.class(relationship.destinationEntityName)
        self.target = target
        type = relationship.isToMany ? "\(names.type("ToMany", of: "StrataGraph"))<\(target)>" : "\(target)?"
        let declaration = relationship.inverseName.flatMap {
            model.hierarchy.declaration(of: $0, in: relationship.destinationEntityName)
        }
        let isOwnInverse = declaration?.entityName == entity.name && relationship.inverseName == relationship.name
        // One side is enough; with macros, naming it on both sides is a circular reference.
        let isNamer = declaration.map { ($0.entityName, $0.property.name) >= (entity.name, relationship.name) } ?? false
        inverse = relationship.inverseName.flatMap { name in
            guard isNamer else { return nil }
            if isOwnInverse, names.form == .macro { return ".inverse(\\.\(CodeNames.escaped(name)))" }
            return "inverse: \\\(names.classValue(relationship.destinationEntityName)).\(CodeNames.escaped(name))"
        }
    }

    /// The arguments of the declaration: delete rule, inverse, then the options.
    var arguments: [String] {
        var arguments: [String] = []
        if relationship.deleteRule != .nullify { arguments.append("deleteRule: .\(relationship.deleteRule)") }
        if let inverse { arguments.append(inverse) }
        if relationship.isOrdered { arguments.append(".ordered") }
        if !relationship.isOptional { arguments.append(".required") }
        if relationship.hasNoInverse { arguments.append(".noInverse") }
        if relationship.isTransient { arguments.append(".transient") }
        if relationship.isToMany {
            if relationship.minCount != (relationship.isOptional ? 0 : 1) {
                arguments.append(".minCount(\(relationship.minCount))")
            }
            if relationship.maxCount > 0 { arguments.append(".maxCount(\(relationship.maxCount))") }
        }
        if let name = relationship.renamingIdentifier {
            arguments.append(".renamed(from: \(CodeLiteral.string(name)))")
        }
        if let text = relationship.versionHashModifier {
            arguments.append(".versionHashModifier(\(CodeLiteral.string(text)))")
        }
        if !relationship.userInfo.isEmpty {
            arguments.append(".userInfo(\(CodeLiteral.dictionary(relationship.userInfo)))")
        }
        return arguments
    }

    var documentation: String {
        let kind = relationship.isToMany ? "\(relationship.isOrdered ? "Ordered " : "")objects" : "One object"
        var facts = ["\(kind.prefix(1).uppercased())\(kind.dropFirst()) of `\(relationship.destinationEntityName)`"]
        if let inverse = relationship.inverseName { facts.append("whose `\(inverse)` leads back") }
        if !relationship.isOptional { facts.append("required") }
        switch relationship.deleteRule {
        case .cascade: facts.append("deleted together with this one")
        case .deny: facts.append("which keep this one from being deleted")
        case .noAction, .nullify: break
        }
        return "/// \(facts.joined(separator: ", "))."
    }

    /// Returns the end of the names of its functions: `Items`, or `Items2` where there is one already.
    static func suffix(_ name: String, _ taken: inout Set<String>) -> String {
        let suffix = CodeNames.unique(name.prefix(1).uppercased() + name.dropFirst(), beside: taken)
        taken.insert(suffix)
        return suffix
    }

    /// The functions that Xcode generates for a to-many, such as `addToItems`; nil for a to-one.
    ///
    /// - Parameter taken: the suffixes that exist already: `items` and `Items` would have the same.
    func accessors(_ access: String, _ taken: inout Set<String>) -> String? {
        guard relationship.isToMany else { return nil }
        let name = CodeNames.escaped(relationship.name)
        let suffix = Self.suffix(relationship.name, &taken)
        let (sequence, int) = (names.type("Sequence", of: "Swift"), names.type("Int", of: "Swift"))
        var text = """
                /// Adds one object to `\(relationship.name)`.
                \(access)func addTo\(suffix)(_ member: \(target)) { self.\(name).insert(member) }

                /// Adds objects to `\(relationship.name)`.
                \(access)func addTo\(suffix)(_ members: some \(sequence)<\(target)>) { self.\(name).insert(contentsOf: members) }

                /// Takes one object out of `\(relationship.name)`.
                \(access)func removeFrom\(suffix)(_ member: \(target)) { self.\(name).remove(member) }

                /// Takes objects out of `\(relationship.name)`.
                \(access)func removeFrom\(suffix)(_ members: some \(sequence)<\(target)>) {
                    for member in members { self.\(name).remove(member) }
                }
            """
        if relationship.isOrdered {
            text += """


                    /// Puts an object at an index of `\(relationship.name)`.
                    \(access)func insertInto\(suffix)(_ member: \(target), at index: \(int)) { self.\(name).insert(member, at: index) }

                    /// Takes the object at an index out of `\(relationship.name)`.
                    \(access)func removeFrom\(suffix)(at index: \(int)) { self.\(name).remove(at: index) }

                    /// Puts an object in the place of the one at an index of `\(relationship.name)`.
                    \(access)func replace\(suffix)(at index: \(int), with member: \(target)) {
                        let former = self.\(name)[index]
                        guard former !== member else { return }
                        self.\(name).insert(member, at: index)
                        self.\(name).remove(former)
                    }
                """
        }
        return text
    }
}
