import SwiftSyntax

/// Who may see a declaration, as far as generated members must follow it.
enum AccessLevel: String {
    case `private`, `fileprivate`, `internal`, `package`, `public`, `open`

    /// The level that `modifiers` name; nil when they name none. `private(set)` names none.
    init?(_ modifiers: DeclModifierListSyntax) {
        let named = modifiers.lazy.filter { $0.detail == nil }.compactMap { AccessLevel(rawValue: $0.name.text) }
        guard let level = named.first else { return nil }
        self = level
    }

    /// The level of a type: its own word, or that of the extension it stands in.
    init(ofType modifiers: DeclModifierListSyntax, in lexicalContext: [Syntax]) {
        let ofExtension = lexicalContext.first?.as(ExtensionDeclSyntax.self).flatMap { AccessLevel($0.modifiers) }
        self = AccessLevel(modifiers) ?? ofExtension ?? .internal
    }

    /// Before a member that overrides one of `ManagedObject`'s.
    var prefixOfOverride: String {
        switch self {
        case .open, .public, .package: rawValue + " "
        case .internal, .fileprivate, .private: ""
        }
    }

    /// Before a static member, which nothing overrides.
    var prefixOfStatic: String { self == .open ? "public " : prefixOfOverride }

    /// Whether clients in other modules see a type of this level that stands in `lexicalContext`.
    func isVisibleOutside(_ lexicalContext: [Syntax]) -> Bool {
        guard self == .public || self == .open else { return false }
        return lexicalContext.allSatisfy { parent in
            // A public member of an extension is one of a public type: the compiler warns of anything else.
            if parent.is(ExtensionDeclSyntax.self) { return true }
            guard let type = parent.asProtocol((any DeclGroupSyntax).self) else { return false }
            return [.public, .open].contains(AccessLevel(type.modifiers))
        }
    }
}
