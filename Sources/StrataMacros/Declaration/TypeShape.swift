import SwiftSyntax

extension TypeSyntax {
    /// The last name of a type written with dots, without generic arguments; nil for other types.
    var lastName: String? {
        if let identifier = self.as(IdentifierTypeSyntax.self) { return identifier.name.bareText }
        return self.as(MemberTypeSyntax.self)?.name.bareText
    }

    var genericArguments: GenericArgumentClauseSyntax? {
        self.as(IdentifierTypeSyntax.self)?.genericArgumentClause
            ?? self.as(MemberTypeSyntax.self)?.genericArgumentClause
    }

    /// Spelled `T?`, `T!` or `Optional<T>`.
    var isOptional: Bool { hasImplicitNil || (lastName == "Optional" && genericArguments != nil) }

    /// Spelled `T?` or `T!`: a variable of it begins as nil without saying so.
    var hasImplicitNil: Bool { self.is(OptionalTypeSyntax.self) || self.is(ImplicitlyUnwrappedOptionalTypeSyntax.self) }

    var isToMany: Bool { lastName == "ToMany" && genericArguments != nil }

    /// The member type of `[T]`, `Array<T>` or `Set<T>`, optional or not: what a to-many is spelled as elsewhere.
    var collectionElement: String? {
        if let array = self.as(ArrayTypeSyntax.self) { return array.element.trimmedDescription }
        if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType.collectionElement }
        guard lastName == "Array" || lastName == "Set" else { return nil }
        return genericArguments?.arguments.first?.argument.trimmedDescription
    }
}

extension TokenSyntax {
    /// The name without backticks.
    var bareText: String { identifier?.name ?? text }
}
