import StrataModel

// Writes the Swift source of an entity's class in the two forms of `strata generate --form`: with `@Entity`, or with
// accessors written out.

extension EntityCode {
    // MARK: With macros

    /// The class in the form with macros. `@Entity` reads its declarations.
    var macroClass: String {
        let arguments = options.isEmpty ? "" : "(\(options.joined(separator: ", ")))"
        var members: [String] = []
        for attribute in attributes { members.append(Self.macroProperty(attribute, access)) }
        for relationship in relationships { members.append(Self.macroProperty(relationship, access)) }
        let kind = hasSubentities ? "class" : "final class"
        return """
            \(documentation)
            @Entity\(arguments) \(access)\(kind) \(className): \(superclass) {
            \(members.joined(separator: "\n\n"))
            }
            """
    }

    private static func macroProperty(_ code: AttributeCode, _ access: String) -> String {
        var options: [String]
        switch code.storage {
        case .row: options = code.options
        case .transformed(let name): options = [".transformable(by: \(CodeLiteral.string(name)))"] + code.options
        case .memory: options = [".transient"]
        }
        let marker = options.isEmpty ? "" : "@Attribute(\(options.joined(separator: ", "))) "
        let initial = code.initialValue.map { " = \($0)" } ?? ""
        return """
                \(documentation(of: code))
                \(marker)\(access)\(code.isDerived ? "private(set) " : "")var \(CodeNames.escaped(code.attribute.name)): \(code.type)\(initial)
            """
    }

    private static func macroProperty(_ code: RelationshipCode, _ access: String) -> String {
        let marker = code.arguments.isEmpty ? "" : "@Relationship(\(code.arguments.joined(separator: ", "))) "
        return """
                \(code.documentation)
                \(marker)\(access)var \(CodeNames.escaped(code.relationship.name)): \(code.type)
            """
    }

    // MARK: Without macros

    /// The superclass of the app's class, with the properties and their descriptions.
    var baseClass: String {
        var members = [entityName, definition, inheritance, bounds, describe]
        if !attributes.isEmpty || !relationships.isEmpty { members.append(visit) }
        let count = attributes.count
        members += attributes.enumerated().map { accessor($1, $0) }
        members += relationships.enumerated().map { accessor($1, count + $0) }
        return """
            /// The properties of `\(className)`, which inherits from this class.
            \(access)class \(base): \(superclass) {
            \(members.joined(separator: "\n\n"))
            }
            """
    }

    /// The app's class.
    var ownClass: String {
        """
        \(documentation)
        \(access)\(hasSubentities ? "class" : "final class") \(className): \(base) {}
        """
    }

    private func swift(_ type: String) -> String { names.type(type, of: "Swift") }
    private func graph(_ type: String) -> String { names.type(type, of: "StrataGraph") }

    private var entityName: String {
        """
            nonisolated \(access)override class var entityName: \(swift("String")) { \(CodeLiteral.string(entity.name)) }
        """
    }

    private var definition: String {
        let arguments = ["\(classValue).self", "superclass: \(superclassValue).self"] + options
        let made = names.value("EntityDefinition", of: "StrataGraph")
        return """
                nonisolated \(access)override class var entityDefinition: \(graph("EntityDefinition")) {
                    _inherits_\(plainName)(\(classValue).self)
                    return \(made)(\(arguments.joined(separator: ", "))) {
                        \(classValue)._describe_\(plainName)(&$0)
                    }
                }
            """
    }

    /// Two functions of which the compiler takes the one that it refuses with a sentence, if the app's class does not
    /// inherit from this one.
    private var inheritance: String {
        let sentence = "the class of the entity \(entity.name) inherits from \(base): class \(className): \(base) {}"
        return """
                nonisolated private static func _inherits_\(plainName)(_: \(base).Type) {}

                @available(*, unavailable, message: \(CodeLiteral.string(sentence)))
                nonisolated private static func _inherits_\(plainName)(_: Any.Type) {}
            """
    }

    private var bounds: String {
        """
            nonisolated \(access)static var _propertyBase_\(plainName): \(swift("Int")) { \(superclassValue)._propertyEnd_\(plainSuperclass) }

            nonisolated \(access)static var _propertyEnd_\(plainName): \(swift("Int")) {
                _propertyBase_\(plainName) + \(attributes.count + relationships.count)
            }
        """
    }

    private var describe: String {
        var lines = ["\(superclassValue)._describe_\(plainSuperclass)(&entity)", "entity.beginOwnProperties()"]
        for code in attributes {
            let name = code.attribute.name
            let path = "\\_Leaf.\(CodeNames.escaped(name)), \(CodeLiteral.string(name))"
            switch code.storage {
            case .row:
                let initial = code.initialValue.map { ["default: \($0)"] } ?? []
                lines.append("entity.property(\(([path] + initial + code.options).joined(separator: ", ")))")
            case .transformed(let transformer):
                let by = "by: \(CodeLiteral.string(transformer))"
                lines.append("entity.transformable(\(([path, by] + code.options).joined(separator: ", ")))")
            case .memory:
                lines.append("entity.transient(\(path))")
            }
        }
        for code in relationships {
            let name = code.relationship.name
            let path = "\\_Leaf.\(CodeNames.escaped(name)), \(CodeLiteral.string(name))"
            lines.append("entity.relationship(\(([path] + code.arguments).joined(separator: ", ")))")
        }
        return """
                nonisolated \(access)static func _describe_\(plainName)<_Leaf: \(className)>(_ entity: inout \(graph("EntityBuilder"))<_Leaf>) {
            \(lines.map { "        " + $0 }.joined(separator: "\n"))
                }
            """
    }

    private var visit: String {
        let all = attributes.map(\.attribute.name) + relationships.map(\.relationship.name)
        let cases = all.enumerated().map { number, name in
            "        case \(number): visitor.visit(object, \\\(classValue).\(CodeNames.escaped(name)))"
        }
        return """
                nonisolated \(access)override func _visitKeyPath<_Visitor: \(graph("_KeyPathVisitor"))>(
                    at index: \(swift("Int")), _ visitor: inout _Visitor
                ) {
                    guard let object = self as? \(className) else { return }
                    switch index - Self._propertyBase_\(plainName) {
            \(cases.joined(separator: "\n"))
                    default: super._visitKeyPath(at: index, &visitor)
                    }
                }
            """
    }

    private func accessor(_ code: AttributeCode, _ number: Int) -> String {
        accessor(
            Self.documentation(of: code), code.attribute.name, code.type, code.accessorSuffix, number,
            isReadOnly: code.isDerived)
    }

    private func accessor(_ code: RelationshipCode, _ number: Int) -> String {
        accessor(code.documentation, code.relationship.name, code.type, "", number)
    }

    private func accessor(
        _ documentation: String, _ name: String, _ type: String, _ suffix: String, _ number: Int,
        isReadOnly: Bool = false
    ) -> String {
        let index = "\(base)._propertyBase_\(plainName) + \(number)"
        let setter = isReadOnly ? "" : "\n        set { _set\(suffix)(\(index), newValue) }"
        return """
                \(documentation)
                \(access)var \(CodeNames.escaped(name)): \(type) {
                    get { _get\(suffix)(\(index)) }\(setter)
                }
            """
    }
}
