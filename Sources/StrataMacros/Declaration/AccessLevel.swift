import SwiftSyntax

/// The access level of a declaration, from which generated members take theirs.
enum AccessLevel: String {
    case `private`, `fileprivate`, `internal`, `package`, `public`, `open`

    /// The level that `modifiers` name; nil if they name none. `private(set)` does not count.
    init?(_ modifiers: DeclModifierListSyntax) {
        let named = modifiers.lazy.filter { $0.detail == nil }.compactMap { AccessLevel(rawValue: $0.name.text) }
        guard let level = named.first else { return nil }
        self = level
    }

    /// The level of a type: its own modifier, or that of the extension around it.
    init(ofType modifiers: DeclModifierListSyntax, in lexicalContext: [Syntax]) {
        let ofExtension = lexicalContext.first?.as(ExtensionDeclSyntax.self).flatMap { AccessLevel($0.modifiers) }
        self = AccessLevel(modifiers) ?? ofExtension ?? .internal
    }

    /// The modifier for a member that overrides one of `ManagedObject`'s.
    var prefixOfOverride: String {
        switch self {
        case .open, .public, .package: rawValue + " "
        case .internal, .fileprivate, .private: ""
        }
    }

    /// The modifier for a static member, which nothing overrides.
    var prefixOfStatic: String { self == .open ? "public " : prefixOfOverride }

    /// Whether other modules see a type of this level in `lexicalContext`.
    func isVisibleOutside(_ lexicalContext: [Syntax]) -> Bool {
        guard self == .public || self == .open else { return false }
        return lexicalContext.allSatisfy { parent in
            // A public member of an extension belongs to a public type; the compiler warns about other cases.
            if parent.is(ExtensionDeclSyntax.self) { return true }
            guard let type = parent.asProtocol((any DeclGroupSyntax).self) else { return false }
            return [.public, .open].contains(AccessLevel(type.modifiers))
        }
    }
}
