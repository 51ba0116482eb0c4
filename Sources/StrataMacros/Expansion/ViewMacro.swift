import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@View`: describes a struct to the model as a view, and makes it of the columns of a row.
///
/// The description is a member, so that it sees declarations beside the struct. The initializer is in an extension, so
/// that the struct keeps that of its variables.
enum ViewMacro: MemberMacro {
    static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let structure = declaration.as(StructDeclSyntax.self) else {
            context.diagnose(Diagnostic(node: node, message: .notAStruct))
            return []
        }
        let (columns, faults) = columns(of: structure)
        faults.forEach(context.diagnose)
        if columns.isEmpty { return [] }
        let version = node.labeledArguments.first?.expression.trimmedDescription ?? "1"
        let calls = columns.map { "\n        \($0.call)" }.joined()
        return [
            """
            \(raw: access(structure, context))nonisolated static let view: ViewDescription = {
                var _view = source\(raw: calls)
                    .description
                _view.name = "\(raw: structure.name.bareText)"
                _view.version = \(raw: version)
                return _view
            }()
            """
        ]
    }

    private static func access(_ structure: StructDeclSyntax, _ context: some MacroExpansionContext) -> String {
        AccessLevel(ofType: structure.modifiers, in: context.lexicalContext).prefixOfStatic
    }

    /// The columns of a view; none if something is wrong with it.
    private static func columns(of structure: StructDeclSyntax) -> (columns: [ViewColumn], faults: [Diagnostic]) {
        var faults: [Diagnostic] = []
        if structure.genericParameterClause != nil {
            faults.append(Diagnostic(node: structure.name, message: .genericView))
        }
        let variables = structure.memberBlock.members.compactMap { $0.decl.as(VariableDeclSyntax.self) }
        if !variables.contains(where: \.isViewSource) {
            faults.append(Diagnostic(node: structure.name, message: .missingSource))
        }
        let stored = variables.filter(\.isInstanceStorage)
        if stored.isEmpty { faults.append(Diagnostic(node: structure.name, message: .noColumns)) }
        for variable in stored where ViewColumn(variable) == nil {
            faults.append(Diagnostic(node: variable, message: .noColumn))
        }
        return (faults.isEmpty ? stored.compactMap(ViewColumn.init) : [], faults)
    }
}

extension ViewMacro: ExtensionMacro {
    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        // Its faults are reported once, where the members are made.
        guard let structure = declaration.as(StructDeclSyntax.self) else { return [] }
        let columns = columns(of: structure).columns
        if columns.isEmpty { return [] }
        let access = access(structure, context)
        let name = type.trimmedDescription
        let reads = columns.map { "\n        \($0.identifier) = try _columns.value(\"\($0.name)\")" }.joined()
        let cases = columns.map { "\n        case \\\(name).\($0.identifier): \"\($0.name)\"" }.joined()
        return [
            try ExtensionDeclSyntax(
                """
                extension \(type.trimmed): ViewRow {
                    \(raw: access)nonisolated init(_columns: ViewColumns) throws {\(raw: reads)
                    }
                    \(raw: access)nonisolated static func _columnName(_ path: PartialKeyPath<\(raw: name)>) -> String? {
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
        // A variable of a view that is no column is reported by @View.
        if isInView != true || declaration.as(VariableDeclSyntax.self)?.isInstanceStorage != true {
            context.diagnose(Diagnostic(node: node, message: .noPlaceForColumn))
        }
        return []
    }
}

extension VariableDeclSyntax {
    /// Whether the variable is the static `source` of a view.
    fileprivate var isViewSource: Bool {
        modifiers.contains(.static)
            && bindings.contains { $0.pattern.as(IdentifierPatternSyntax.self)?.identifier.bareText == "source" }
    }
}
