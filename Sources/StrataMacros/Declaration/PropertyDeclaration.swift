import SwiftSyntax

/// A variable of an entity class that is a property of the model.
struct PropertyDeclaration {
    /// The form in which values are stored.
    enum Storage {
        /// In the row, or as a relationship.
        case row
        /// In the row, as bytes from the transformer that the expression names, or the standard one.
        case transformed(by: String?)
        /// Only in memory.
        case memory
    }

    /// The name as written, with backticks if there are any.
    let identifier: String
    /// The name in the model.
    let name: String
    let type: TypeSyntax
    /// The initial value; nil also for `= nil`.
    let initialValue: ExprSyntax?
    let storage: Storage
    let attribute: AttributeSyntax?
    let relationship: AttributeSyntax?
    let modifiers: DeclModifierListSyntax

    /// nil if the variable is not part of the model, or has a form that cannot get accessors.
    init?(_ variable: VariableDeclSyntax) {
        let refused: [Keyword] = [.lazy, .weak, .unowned]
        guard variable.isInstanceStorage, variable.bindingSpecifier.tokenKind == .keyword(.var),
            !variable.attributes.has(.transient), !refused.contains(where: variable.modifiers.contains),
            variable.bindings.count == 1,
            let binding = variable.bindings.first, binding.accessorBlock == nil,
            let pattern = binding.pattern.as(IdentifierPatternSyntax.self),
            let type = binding.typeAnnotation?.type
        else { return nil }
        identifier = pattern.identifier.text
        name = pattern.identifier.bareText
        self.type = type.trimmed
        let value = binding.initializer?.value
        initialValue = value?.is(NilLiteralExprSyntax.self) == true ? nil : value?.trimmed
        attribute = variable.attributes.first(.attribute)
        relationship = variable.attributes.first(.relationship)
        storage = attribute.map(Storage.init) ?? .row
        modifiers = variable.modifiers
    }
}

extension PropertyDeclaration.Storage {
    init(_ attribute: AttributeSyntax) {
        if let argument = attribute.option("transformable") {
            let name = argument.expression.as(FunctionCallExprSyntax.self)?.arguments.first
            self = .transformed(by: name?.expression.trimmedDescription)
        } else if attribute.option("transient") != nil {
            self = .memory
        } else {
            self = .row
        }
    }
}

extension VariableDeclSyntax {
    /// The names of variables of the object that are not in the model and can be read at once: those that are computed,
    /// constant or `@Transient`.
    var ownValues: [TokenSyntax] {
        let hidden: [Keyword] = [.static, .class, .private, .fileprivate, .override, .weak, .unowned, .lazy]
        guard attributes.count == attributes.all(.transient).count, !hidden.contains(where: modifiers.contains),
            PropertyDeclaration(self) == nil
        else {
            return []
        }
        let isReadable = bindings.allSatisfy { $0.accessorBlock == nil || $0.observers != nil || $0.isReadAtOnce }
        return isReadable ? identifiers : []
    }

    /// Whether the variable is an instance variable and not computed.
    var isInstanceStorage: Bool {
        !modifiers.contains(.static) && !modifiers.contains(.class)
            && bindings.allSatisfy { $0.accessorBlock == nil || $0.observers != nil }
    }

    /// All names that it declares, as written.
    var identifiers: [TokenSyntax] { bindings.compactMap { $0.pattern.as(IdentifierPatternSyntax.self)?.identifier } }
}

extension PatternBindingSyntax {
    /// Whether the variable has a getter that neither waits nor throws.
    fileprivate var isReadAtOnce: Bool {
        switch accessorBlock?.accessors {
        case .getter: true
        case .accessors(let accessors):
            accessors.contains { $0.accessorSpecifier.tokenKind == .keyword(.get) && $0.effectSpecifiers == nil }
        case nil: false
        }
    }

    /// The accessors, if they are only `willSet` and `didSet`.
    var observers: AccessorBlockSyntax? {
        guard let block = accessorBlock, case .accessors(let accessors) = block.accessors else { return nil }
        let words: [TokenKind] = [.keyword(.willSet), .keyword(.didSet)]
        return accessors.allSatisfy { words.contains($0.accessorSpecifier.tokenKind) } ? block : nil
    }
}

extension DeclModifierListSyntax {
    func contains(_ keyword: Keyword) -> Bool { contains { $0.name.tokenKind == .keyword(keyword) } }
}
