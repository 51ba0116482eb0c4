import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@_ManagedProperty(index)`: adds the accessors of one property. Only `@Entity` writes it.
///
/// The declared type chooses the overloads of `_get` and `_set`. If other modules see the property, its accessors can
/// be inlined there into one test and one load.
enum ManagedPropertyMacro: AccessorMacro {
    static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) -> [AccessorDeclSyntax] {
        guard let variable = declaration.as(VariableDeclSyntax.self), let property = PropertyDeclaration(variable),
            let index = node.labeledArguments.first?.expression.trimmedDescription,
            let parent = context.lexicalContext.first,
            let entity = EntityDeclaration(parent, in: Array(context.lexicalContext.dropFirst()))
        else { return [] }
        let propertyIndex = "\(entity.base) + \(index)"
        let suffix = property.accessorSuffix
        let isPublic = entity.isVisibleOutside && [.public, .open].contains(AccessLevel(property.modifiers))
        // An initial value may use declarations that other modules do not see.
        let getter = isPublic && property.initialArgument.isEmpty ? "@inlinable get" : "get"
        let setter = isPublic && !property.hasNarrowerSetter ? "@inlinable set" : "set"
        return [
            "\(raw: getter) { _get\(raw: suffix)(\(raw: propertyIndex)\(raw: property.initialArgument)) }",
            "\(raw: setter) { _set\(raw: suffix)(\(raw: propertyIndex), newValue) }",
        ]
    }
}

extension PropertyDeclaration {
    fileprivate var accessorSuffix: String {
        switch storage {
        case .row: ""
        case .transformed: "Transformed"
        case .memory: "Transient"
        }
    }

    /// The initial value, which for an attribute in memory is no part of the row.
    fileprivate var initialArgument: String {
        guard case .memory = storage, let initialValue else { return "" }
        return ", default: \(initialValue.description)"
    }

    /// Whether the variable is declared with `private(set)` or similar.
    fileprivate var hasNarrowerSetter: Bool { modifiers.contains { $0.detail?.detail.text == "set" } }
}
