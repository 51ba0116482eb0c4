import SwiftSyntax

// The written form of a type: optional, to-many, array. A macro knows no more of it.

extension TypeSyntax {
    /// The last name of a type such as `A.B<C>`, here `B`; nil for types without a name.
    var lastName: String? {
        if let identifier = self.as(IdentifierTypeSyntax.self) { return identifier.name.bareText }
        return self.as(MemberTypeSyntax.self)?.name.bareText
    }

    var genericArguments: GenericArgumentClauseSyntax? {
        self.as(IdentifierTypeSyntax.self)?.genericArgumentClause
            ?? self.as(MemberTypeSyntax.self)?.genericArgumentClause
    }

    /// Whether the type is written `T?`, `T!` or `Optional<T>`.
    var isOptional: Bool { hasImplicitNil || (lastName == "Optional" && genericArguments != nil) }

    /// Whether the type is written `T?` or `T!`: such a variable begins as nil without an initial value.
    var hasImplicitNil: Bool { self.is(OptionalTypeSyntax.self) || self.is(ImplicitlyUnwrappedOptionalTypeSyntax.self) }

    var isToMany: Bool { lastName == "ToMany" && genericArguments != nil }

    /// The class at the other end of a relationship: `T` of `ToMany<T>` and of `T?`.
    var destination: String? {
        if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType.trimmedDescription }
        guard isToMany || lastName == "Optional" else { return nil }
        return genericArguments?.arguments.first?.argument.trimmedDescription
    }

    /// The member type of `[T]`, `Array<T>` or `Set<T>`, optional or not: how other frameworks write a to-many.
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
