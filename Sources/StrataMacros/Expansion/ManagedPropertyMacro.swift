import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@_ManagedProperty(index)`: the accessors of one property; only `@Entity` writes it.
///
/// The overloads of `_get` and `_set` are chosen by the declared type. Where other modules see the property, the
/// accessors can be inlined into them: what is left there is one test and one load.
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
        let place = "\(entity.base) + \(index)"
        let suffix = property.accessorSuffix
        let isPublic = entity.isVisibleOutside && [.public, .open].contains(AccessLevel(property.modifiers))
        let getter = isPublic ? "@inlinable get" : "get"
        let setter = isPublic && !property.hasNarrowerSetter ? "@inlinable set" : "set"
        return [
            "\(raw: getter) { _get\(raw: suffix)(\(raw: place)) }",
            "\(raw: setter) { _set\(raw: suffix)(\(raw: place), newValue) }",
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

    /// Declared with `private(set)` or the like.
    fileprivate var hasNarrowerSetter: Bool { modifiers.contains { $0.detail?.detail.text == "set" } }
}
