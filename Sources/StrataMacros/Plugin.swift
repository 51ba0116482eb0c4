import SwiftCompilerPlugin
import SwiftSyntaxMacros

/// The compiler plug-in with Strata's macros.
@main
struct StrataPlugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        EntityMacro.self,
        AttributeMacro.self,
        RelationshipMacro.self,
        TransientMacro.self,
        ManagedPropertyMacro.self,
        ViewMacro.self,
        ViewColumnMacro.self,
    ]
}
