import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

// The fixes for code that a check refuses. Each replaces a whole node and leaves the code around it alone.

extension EntityCheck {
    func remove(_ attribute: AttributeSyntax, from variable: VariableDeclSyntax) -> FixIt? {
        var changed = variable
        changed.attributes = variable.attributes.filter { $0.id != attribute.id }
        changed.leadingTrivia = variable.leadingTrivia
        return replace(variable, changed, .remove(attribute.trimmedDescription))
    }

    func remove(_ modifier: DeclModifierSyntax, from variable: VariableDeclSyntax) -> FixIt? {
        var changed = variable
        changed.modifiers = variable.modifiers.filter { $0.id != modifier.id }
        changed.leadingTrivia = variable.leadingTrivia
        return replace(variable, changed, .remove(modifier.trimmedDescription))
    }

    func insertSuperclass(in entity: ClassDeclSyntax) -> FixIt? {
        let parent = InheritedTypeSyntax(type: TypeSyntax("ManagedObject"))
        var changed = entity
        if let clause = entity.inheritanceClause {
            let first = parent.with(\.trailingComma, .commaToken(trailingTrivia: .space))
            changed.inheritanceClause = clause.with(\.inheritedTypes, [first] + clause.inheritedTypes)
        } else {
            let trivia = entity.name.trailingTrivia
            changed.name = entity.name.with(\.trailingTrivia, [])
            changed.inheritanceClause = InheritanceClauseSyntax(
                colon: .colonToken(trailingTrivia: .space), inheritedTypes: [parent], trailingTrivia: trivia)
        }
        return replace(entity, changed, .insert("ManagedObject"))
    }

    func replace(_ type: TypeSyntax, _ name: String) -> FixIt? {
        let changed = TypeSyntax("\(raw: name)")
            .with(\.leadingTrivia, type.leadingTrivia).with(\.trailingTrivia, type.trailingTrivia)
        return replace(type, changed, .replace(type.trimmedDescription, name))
    }

    func replacePrivate(_ modifier: DeclModifierSyntax) -> FixIt? {
        let changed = modifier.with(\.name.tokenKind, .keyword(.fileprivate))
        return replace(modifier, changed, .replace("private", "fileprivate"))
    }

    func insertConvenience(in initializer: InitializerDeclSyntax) -> FixIt? {
        let modifier = DeclModifierSyntax(name: .keyword(.convenience, trailingTrivia: .space))
        return replace(initializer, initializer.inserting(modifier), .insert("convenience"))
    }

    func insertTransient(before variable: VariableDeclSyntax) -> FixIt? {
        var changed = variable
        let attribute = AttributeSyntax("@Transient").with(\.trailingTrivia, .space)
        changed.leadingTrivia = []
        changed.attributes = [.attribute(attribute)] + changed.attributes
        changed.leadingTrivia = variable.leadingTrivia
        return replace(variable, changed, .insert("@Transient"))
    }

    func replaceLet(in variable: VariableDeclSyntax) -> FixIt? {
        let specifier = variable.bindingSpecifier
        let changed = specifier.with(\.tokenKind, .keyword(.var))
        return replace(specifier, changed, .replace("let", "var"))
    }

    func removeObservers(from binding: PatternBindingSyntax) -> FixIt? {
        var changed = binding
        changed.accessorBlock = nil
        changed.trailingTrivia = binding.trailingTrivia
        return replace(binding, changed, .remove("observers"))
    }

    /// Inserts the type of a literal or of an initializer call.
    func insertType(in binding: PatternBindingSyntax) -> FixIt? {
        guard let type = binding.initializer?.value.evidentType else { return nil }
        var changed = binding
        changed.pattern = binding.pattern.with(\.trailingTrivia, [])
        changed.typeAnnotation = TypeAnnotationSyntax(
            colon: .colonToken(trailingTrivia: .space), type: TypeSyntax("\(raw: type)"),
            trailingTrivia: binding.pattern.trailingTrivia)
        return replace(binding, changed, .insert(": \(type)"))
    }

    /// Writes one variable for each binding, with the attributes and modifiers of the original.
    func splitting(_ variable: VariableDeclSyntax) -> FixIt? {
        guard let item = variable.parent?.as(MemberBlockItemSyntax.self),
            let list = item.parent?.as(MemberBlockItemListSyntax.self),
            let index = list.index(of: item)
        else { return nil }
        // In `var a, b: Int` both variables have the type of the last.
        var following: TypeAnnotationSyntax?
        var parts: [PatternBindingSyntax] = []
        for binding in variable.bindings.reversed() {
            var part = binding.with(\.trailingComma, nil).trimmed
            if part.typeAnnotation == nil, part.initializer == nil { part.typeAnnotation = following }
            following = part.typeAnnotation
            parts.insert(part, at: 0)
        }
        var items = Array(list)
        let offset = list.distance(from: list.startIndex, to: index)
        items.replaceSubrange(
            offset...offset,
            with: parts.enumerated().map { offset, part in
                var copy = variable.with(\.bindings, [part])
                // The documentation comment stays with the first variable.
                if offset > 0 { copy.leadingTrivia = .newline + variable.leadingTrivia.indentation }
                return item.with(\.decl, DeclSyntax(copy))
            })
        return replace(list, MemberBlockItemListSyntax(items), .split)
    }

    private func replace(_ old: some SyntaxProtocol, _ new: some SyntaxProtocol, _ message: EntityMessage) -> FixIt {
        FixIt(message: message, changes: [.replace(oldNode: Syntax(old), newNode: Syntax(new))])
    }
}

extension InitializerDeclSyntax {
    fileprivate func inserting(_ modifier: DeclModifierSyntax) -> InitializerDeclSyntax {
        var changed = self
        changed.leadingTrivia = []
        changed.modifiers = changed.modifiers + [modifier]
        changed.leadingTrivia = leadingTrivia
        return changed
    }
}

extension ExprSyntax {
    /// The type of a literal, or of a call that looks like an initializer call; nil if it cannot be known.
    fileprivate var evidentType: String? {
        if self.is(StringLiteralExprSyntax.self) { return "String" }
        if self.is(IntegerLiteralExprSyntax.self) { return "Int" }
        if self.is(FloatLiteralExprSyntax.self) { return "Double" }
        if self.is(BooleanLiteralExprSyntax.self) { return "Bool" }
        if let negated = self.as(PrefixOperatorExprSyntax.self) { return negated.expression.evidentType }
        guard let callee = self.as(FunctionCallExprSyntax.self)?.calledExpression.as(DeclReferenceExprSyntax.self),
            callee.baseName.text.first?.isUppercase == true
        else { return nil }
        return callee.baseName.text
    }
}

extension Trivia {
    /// The spaces after the last line break.
    fileprivate var indentation: Trivia {
        let blanks = pieces.reversed().prefix { piece in
            switch piece {
            case .spaces, .tabs: true
            default: false
            }
        }
        return Trivia(pieces: blanks.reversed())
    }
}
