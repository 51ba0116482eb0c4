import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import SwiftSyntaxMacrosGenericTestSupport
import Testing

@testable import StrataMacrosParts

/// The macros as the module `Strata` declares them.
let entityMacros: [String: MacroSpec] = [
    "Entity": MacroSpec(type: EntityMacro.self, conformances: ["ManagedEntity"]),
    "_ManagedProperty": MacroSpec(type: ManagedPropertyMacro.self),
    "Attribute": MacroSpec(type: AttributeMacro.self),
    "Relationship": MacroSpec(type: RelationshipMacro.self),
    "Transient": MacroSpec(type: TransientMacro.self),
]

/// Checks what `macros` make of a source.
func expectExpansion(
    of source: String, _ expected: String, diagnostics: [DiagnosticSpec] = [],
    macros: [String: MacroSpec] = entityMacros, fixed: String? = nil,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
    assertMacroExpansion(
        source, expandedSource: expected, diagnostics: diagnostics, macroSpecs: macros, fixedSource: fixed,
        failureHandler: { failure in
            Issue.record("\(failure.message)", sourceLocation: sourceLocation)
        })
}

/// One fault that the source must have: where, what, and what the mended source is.
struct ExpectedFault {
    var message: String
    var line: Int
    var column: Int
    var fixIts: [String] = []
}

/// Checks the diagnostics of `@Entity` alone, and what the first changes make of the source.
func expectFaults(
    in source: String, _ faults: [ExpectedFault], fixed: String? = nil,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
    let diagnostics = faults.map { fault in
        DiagnosticSpec(
            message: fault.message, line: fault.line, column: fault.column,
            fixIts: fault.fixIts.map { FixItSpec(message: $0) })
    }
    let unmarked = source.replacing(#/@Entity(\([^)]*\))?[ \n]/#, with: "")
    expectExpansion(
        of: source, unmarked, diagnostics: diagnostics, macros: ["Entity": MacroSpec(type: CheckingMacro.self)],
        fixed: fixed, sourceLocation: sourceLocation)
}

/// Checks that `@Entity` finds nothing wrong.
func expectNoFaults(in source: String, sourceLocation: Testing.SourceLocation = #_sourceLocation) {
    expectFaults(in: source, [], sourceLocation: sourceLocation)
}

/// `@Entity` with its checks and without what it writes.
enum CheckingMacro: MemberMacro {
    static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
        _ = EntityMacro.expansion(of: node, providingMembersOf: declaration, conformingTo: protocols, in: context)
        return []
    }
}

/// `@Entity` without anything but the attributes it gives to variables.
enum AttributingMacro: MemberAttributeMacro {
    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingAttributesFor member: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) -> [AttributeSyntax] {
        EntityMacro.expansion(of: node, attachedTo: declaration, providingAttributesFor: member, in: context)
    }
}
