import SwiftSyntax

/// A class as the expansion of `@Entity` sees it.
struct EntityDeclaration {
    /// The name as written, with backticks if there are any.
    let identifier: String
    /// The name of the entity, with which names of generated static members end.
    let name: String
    /// The superclass as written.
    let superclass: String
    let superclassName: String
    /// The properties of the model that the class itself declares, by index.
    let properties: [PropertyDeclaration]
    /// The names of variables of the object that are not in the model and can be read by name.
    let ownValues: [TokenSyntax]
    let access: AccessLevel
    /// Names of the functions that the class overrides.
    let overrides: Set<String>
    /// Whether other modules see the class, so that generated code can be inlined into them.
    let isVisibleOutside: Bool

    /// nil if `declaration` cannot be an entity; `EntityCheck` reports why.
    init?(_ declaration: some SyntaxProtocol, in lexicalContext: [Syntax]) {
        guard let declaration = declaration.as(ClassDeclSyntax.self), declaration.genericParameterClause == nil,
            let superclass = declaration.superclass, let superclassName = superclass.lastName,
            superclassName != Self.foreignSuperclass, declaration.hidingModifier(in: lexicalContext) == nil,
            declaration.attributes.named("Observable") == nil
        else { return nil }
        identifier = declaration.name.text
        name = declaration.name.bareText
        self.superclass = superclass.trimmedDescription
        self.superclassName = superclassName
        properties = declaration.memberBlock.members.compactMap { member in
            member.decl.as(VariableDeclSyntax.self).flatMap(PropertyDeclaration.init)
        }
        ownValues = declaration.memberBlock.members.flatMap { member in
            member.decl.as(VariableDeclSyntax.self)?.ownValues ?? []
        }
        overrides = declaration.memberBlock.functionNames
        access = AccessLevel(ofType: declaration.modifiers, in: lexicalContext)
        isVisibleOutside = access.isVisibleOutside(lexicalContext)
    }

    /// Core Data's class, which no entity inherits from.
    static let foreignSuperclass = "NSManagedObject"

    /// The index of the property that `variable` declares; nil if it declares none.
    func index(of variable: VariableDeclSyntax) -> Int? {
        guard let property = PropertyDeclaration(variable) else { return nil }
        return properties.firstIndex { $0.name == property.name }
    }

    /// The expression for the index of the first property of its own.
    var base: String { "\(identifier)._propertyBase_\(name)" }
}

extension MemberBlockSyntax {
    /// The names of all functions, including those in nested types and conditional code.
    fileprivate var functionNames: Set<String> {
        var names: Set<String> = []
        var isName = false
        for token in tokens(viewMode: .sourceAccurate) {
            if isName { names.insert(token.bareText) }
            isName = token.tokenKind == .keyword(.func)
        }
        return names
    }
}

extension ClassDeclSyntax {
    /// The modifier `private` of a class inside another type, whose extension outside would not see the class.
    func hidingModifier(in lexicalContext: [Syntax]) -> DeclModifierSyntax? {
        // What a macro gives to the members of a class has the class itself around it.
        let isInside = lexicalContext.first?.as(ClassDeclSyntax.self)?.name.text == name.text
        guard lexicalContext.count > (isInside ? 1 : 0) else { return nil }
        return modifiers.first { $0.detail == nil && $0.name.tokenKind == .keyword(.private) }
    }

    /// The first inherited type, unless it is known to be a protocol.
    var superclass: TypeSyntax? {
        guard let first = inheritanceClause?.inheritedTypes.first?.type, let name = first.lastName,
            !Self.knownProtocols.contains(name)
        else { return nil }
        return first
    }

    /// Common protocols. A macro cannot tell them from a superclass, because it sees no types.
    private static let knownProtocols: Set<String> = [
        "Codable", "Comparable", "CustomDebugStringConvertible", "CustomStringConvertible", "Decodable", "Encodable",
        "Equatable", "Hashable", "Identifiable", "ManagedEntity", "Observable", "Sendable",
    ]
}
