import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

// `@Entity` reads these attributes. `@Attribute` and `@Relationship` write the description of their variable themselves,
// so that an option that does not fit the type is an error in the expansion of the attribute that has it.

/// `@Attribute(...)`
enum AttributeMacro: MarkerMacro { static let marker = Marker.attribute }

/// `@Relationship(...)`
enum RelationshipMacro: MarkerMacro { static let marker = Marker.relationship }

/// `@Transient`
enum TransientMacro: MarkerMacro { static let marker = Marker.transient }

protocol MarkerMacro: PeerMacro {
    static var marker: Marker { get }
}

extension MarkerMacro {
    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
        let parent = context.lexicalContext.first
        guard let variable = declaration.as(VariableDeclSyntax.self),
            parent?.asProtocol((any DeclGroupSyntax).self)?.attributes.has(.entity) == true
        else {
            context.diagnose(Diagnostic(node: node, message: .misplaced(marker)))
            return []
        }
        guard let parent, let entity = EntityDeclaration(parent, in: Array(context.lexicalContext.dropFirst())),
            let property = PropertyDeclaration(variable), property.describingMarker == marker
        else { return [] }
        return [
            """
            nonisolated private static func \(raw: property.describingFunction)<_Leaf: \(raw: entity.identifier)>(
                _ entity: inout EntityBuilder<_Leaf>
            ) {
                \(raw: property.describingCall)
            }
            """
        ]
    }
}
