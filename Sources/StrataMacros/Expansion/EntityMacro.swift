import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@Entity`: adds accessors to each property of the class, and the members that describe the class to the model.
enum EntityMacro {}

extension EntityMacro: MemberAttributeMacro {
    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingAttributesFor member: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) -> [AttributeSyntax] {
        guard let variable = member.as(VariableDeclSyntax.self),
            let entity = EntityDeclaration(declaration, in: context.lexicalContext),
            let index = entity.index(of: variable)
        else { return [] }
        return ["@_ManagedProperty(\(literal: index))"]
    }
}

extension EntityMacro: MemberMacro {
    static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
        var check = EntityCheck(context)
        check.check(declaration, node)
        guard let entity = EntityDeclaration(declaration, in: context.lexicalContext) else {
            return check.leavesStorage ? [EntityExpansion.placeholderInitializer] : []
        }
        let members = EntityExpansion(entity: entity, options: node.labeledArguments).members
        return check.leavesStorage ? members + [EntityExpansion.placeholderInitializer] : members
    }
}

extension EntityMacro: ExtensionMacro {
    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        // The compiler asks for no conformances if the superclass conforms already.
        guard !protocols.isEmpty, let entity = EntityDeclaration(declaration, in: context.lexicalContext) else {
            return []
        }
        // The compiler gives the name without the backticks that a class called `any` needs.
        var name = type.trimmedDescription
        if entity.identifier != entity.name, name.hasSuffix(entity.name) {
            name = name.dropLast(entity.name.count) + entity.identifier
        }
        return [try ExtensionDeclSyntax("extension \(raw: name): ManagedEntity {}")]
    }
}
