import SwiftSyntax
import SwiftSyntaxBuilder

/// Writes the members of an entity class.
///
/// Indexes of properties are static and never virtual: a subclass's begin where its parent's end, also if the parent is
/// in another module. The description is generic over the last class of the chain, because `\Employee.name` and
/// `\Person.name` are different key paths. All members are nonisolated, so that they compile in modules whose default
/// isolation is the main actor.
struct EntityExpansion {
    let entity: EntityDeclaration
    let options: [LabeledExprSyntax]

    var members: [DeclSyntax] {
        var members = [propertyBase, propertyEnd, entityName] + hooks + [entityDefinition, describe]
        if !entity.properties.isEmpty { members.append(visitKeyPath) }
        if !entity.ownValues.isEmpty { members.append(ownValue) }
        return members
    }

    /// Replaces the inherited initializers if a refused variable would hide them, so that one mistake causes one error.
    /// The build fails in any case.
    static var placeholderInitializer: DeclSyntax {
        """
        required init(_ seed: _ObjectSeed) {
            preconditionFailure("The entity has errors.")
        }
        """
    }

    private var staticPrefix: String {
        let access = entity.access.prefixOfStatic
        return entity.isVisibleOutside ? "@inlinable nonisolated \(access)static" : "nonisolated \(access)static"
    }

    private var overridePrefix: String { "nonisolated \(entity.access.prefixOfOverride)override" }

    private var propertyBase: DeclSyntax {
        """
        \(raw: staticPrefix) var _propertyBase_\(raw: entity.name): Int {
            \(raw: entity.superclass)._propertyEnd_\(raw: entity.superclassName)
        }
        """
    }

    private var propertyEnd: DeclSyntax {
        """
        \(raw: staticPrefix) var _propertyEnd_\(raw: entity.name): Int {
            _propertyBase_\(raw: entity.name) + \(raw: entity.properties.count)
        }
        """
    }

    private var entityName: DeclSyntax {
        """
        \(raw: overridePrefix) class var entityName: String {
            \(literal: entity.name)
        }
        """
    }

    /// Declares which costly hooks the class overrides, so that the others are not called.
    ///
    /// A class that overrides none says so only if it knows that its superclass overrides none either.
    private var hooks: [DeclSyntax] {
        [
            hook("_validatesValues", ["validateValue"]),
            hook("_observesDeletion", ["prepareForDeletion", "willSave", "didSave", "validateForDelete"]),
        ].compactMap(\.self)
    }

    private func hook(_ name: String, _ functions: Set<String>) -> DeclSyntax? {
        let isOverridden = !entity.overrides.isDisjoint(with: functions)
        guard isOverridden || entity.superclassName == "ManagedObject" else { return nil }
        return """
            \(raw: overridePrefix) class var \(raw: name): Bool {
                \(raw: isOverridden)
            }
            """
    }

    private var entityDefinition: DeclSyntax {
        let arguments =
            ["\(entity.identifier).self", "superclass: \(entity.superclass).self"] + options.map(\.text)
        return """
            \(raw: overridePrefix) class var entityDefinition: EntityDefinition {
                EntityDefinition(\(raw: arguments.joined(separator: ", "))) {
                    \(raw: entity.identifier)._describe_\(raw: entity.name)(&$0)
                }
            }
            """
    }

    private var describe: DeclSyntax {
        let parent = "\(entity.superclass)._describe_\(entity.superclassName)(&entity)"
        let lines = [parent, "entity.beginOwnProperties()"] + entity.properties.map(\.line)
        let access = entity.access.prefixOfStatic
        return """
            nonisolated \(raw: access)static func _describe_\(raw: entity.name)<_Leaf: \(raw: entity.identifier)>(
                _ entity: inout EntityBuilder<_Leaf>
            ) {
                \(raw: lines.joined(separator: "\n    "))
            }
            """
    }

    /// Reads the variables that are not in the model by name.
    private var ownValue: DeclSyntax {
        let cases = entity.ownValues.map { "case \"\($0.bareText)\": return .some(self.\($0.text))" }
        return """
            \(raw: overridePrefix) func _ownValue(forKey key: String) -> Any?? {
                switch key {
                \(raw: cases.joined(separator: "\n    "))
                default: return super._ownValue(forKey: key)
                }
            }
            """
    }

    private var visitKeyPath: DeclSyntax {
        let cases = entity.properties.enumerated().map { index, property in
            "case \(index): visitor.visit(self, \\\(entity.identifier).\(property.identifier))"
        }
        return """
            \(raw: overridePrefix) func _visitKeyPath<_Visitor: _KeyPathVisitor>(
                at index: Int, _ visitor: inout _Visitor
            ) {
                switch index - \(raw: entity.base) {
                \(raw: cases.joined(separator: "\n    "))
                default: super._visitKeyPath(at: index, &visitor)
                }
            }
            """
    }
}

extension PropertyDeclaration {
    /// The attribute that writes the description; nil if `@Entity` does.
    var describingMarker: Marker? {
        if relationship != nil { return .relationship }
        return attribute == nil ? nil : .attribute
    }

    /// The function in which `@Attribute` or `@Relationship` describes the property.
    var describingFunction: String { "_describeProperty_\(name)" }

    fileprivate var line: String { describingMarker == nil ? describingCall : "\(describingFunction)(&entity)" }

    /// The call that describes the property to the builder.
    ///
    /// Arguments are copied from the attribute. There the compiler checks them loosely, here against the key path's type.
    var describingCall: String {
        let path = ["\\_Leaf.\(identifier)", "\"\(name)\""]
        if let relationship {
            return call("relationship", path + relationship.inBuilderOrder(destination: type.destination))
        }
        let options = attribute?.labeledArguments ?? []
        let initial = initialValue.map { ["default: \($0.description)"] } ?? []
        switch storage {
        case .row:
            return call("property", path + initial + options.map(\.text))
        case .transformed(let transformer):
            let others = options.filter { $0.id != attribute?.option("transformable")?.id }
            return call("transformable", path + (transformer.map { ["by: \($0)"] } ?? []) + others.map(\.text))
        case .memory:
            return call("transient", path + initial)
        }
    }

    private func call(_ function: String, _ arguments: [String]) -> String {
        "entity.\(function)(\(arguments.joined(separator: ", ")))"
    }
}

extension AttributeSyntax {
    /// The arguments in the builder's order: delete rule, inverse, options. `.inverse(\.owner)` becomes the key path
    /// from the destination, which the compiler looks up here, where it has read both sides.
    fileprivate func inBuilderOrder(destination: String?) -> [String] {
        func labeled(_ label: String) -> LabeledExprSyntax? { labeledArguments.first { $0.label?.text == label } }
        var options = labeledArguments.filter { $0.label == nil }
        var inverse = labeled("inverse")?.text
        if inverse == nil, let option = option("inverse"), let path = option.pathOfInverse, let destination {
            options.removeAll { $0.id == option.id }
            inverse = "inverse: \\\(destination)\(path)"
        }
        return [labeled("deleteRule")?.text, inverse].compactMap(\.self) + options.map(\.text)
    }
}

extension LabeledExprSyntax {
    /// The components of `.inverse(\.owner)`: ".owner".
    fileprivate var pathOfInverse: String? {
        let argument = expression.as(FunctionCallExprSyntax.self)?.arguments.first?.expression
        guard let path = argument?.as(KeyPathExprSyntax.self), path.root == nil else { return nil }
        return path.components.trimmedDescription
    }
}
