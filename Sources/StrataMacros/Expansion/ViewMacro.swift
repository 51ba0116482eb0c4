import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@View`: describes a struct to the model as a view, and makes it of the columns of a row.
enum ViewMacro: ExtensionMacro {
    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        guard let structure = declaration.as(StructDeclSyntax.self) else {
            context.diagnose(Diagnostic(node: node, message: .notAStruct))
            return []
        }
        let variables = structure.memberBlock.members.compactMap { $0.decl.as(VariableDeclSyntax.self) }
        for variable in variables where variable.isInstanceStorage && ViewColumn(variable) == nil {
            context.diagnose(Diagnostic(node: variable, message: .noColumn))
        }
        if !variables.contains(where: \.isViewSource) {
            context.diagnose(Diagnostic(node: structure.name, message: .missingSource))
            return []
        }
        let columns = variables.compactMap(ViewColumn.init)
        let access = AccessLevel(ofType: structure.modifiers, in: context.lexicalContext).prefixOfStatic
        let name = type.trimmedDescription
        let version = node.labeledArguments.first?.expression.trimmedDescription ?? "1"
        let calls = columns.map { "\n            \($0.call)" }.joined()
        let reads = columns.map { "\n        \($0.identifier) = try _columns.value(\"\($0.name)\")" }.joined()
        let cases = columns.map { "\n        case \\\(name).\($0.identifier): \"\($0.name)\"" }.joined()
        return [
            try ExtensionDeclSyntax(
                """
                extension \(type.trimmed): ViewRow {
                    \(raw: access)static var view: ViewDescription {
                        var _view = source\(raw: calls)
                            .description
                        _view.name = "\(raw: structure.name.bareText)"
                        _view.version = \(raw: version)
                        return _view
                    }
                    \(raw: access)init(_columns: ViewColumns) throws {\(raw: reads)
                    }
                    \(raw: access)static func _columnName(_ path: PartialKeyPath<\(raw: name)>) -> String? {
                        switch path {\(raw: cases)
                        default: nil
                        }
                    }
                }
                """)
        ]
    }
}

/// `@Key`, `@Count`, `@Sum` and the others: read by `@View`.
enum ViewColumnMacro: PeerMacro {
    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
        let isInView = context.lexicalContext.first?.as(StructDeclSyntax.self)?.attributes.contains { element in
            guard case .attribute(let attribute) = element else { return false }
            return attribute.attributeName.lastName == "View"
        }
        if isInView != true || declaration.as(VariableDeclSyntax.self).flatMap(ViewColumn.init) == nil {
            context.diagnose(Diagnostic(node: node, message: .noPlaceForColumn))
        }
        return []
    }
}

extension VariableDeclSyntax {
    /// Whether it is the static `source` of a view.
    fileprivate var isViewSource: Bool {
        modifiers.contains(.static)
            && bindings.contains { $0.pattern.as(IdentifierPatternSyntax.self)?.identifier.bareText == "source" }
    }
}
