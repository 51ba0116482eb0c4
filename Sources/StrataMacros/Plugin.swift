import SwiftCompilerPlugin
import SwiftSyntaxMacros

@main
struct StrataPlugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        EntityMacro.self,
        AttributeMacro.self,
        RelationshipMacro.self,
        TransientMacro.self,
        ManagedPropertyMacro.self,
    ]
}
