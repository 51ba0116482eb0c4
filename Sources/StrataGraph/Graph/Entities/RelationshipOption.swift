public import StrataModel

/// An option of a relationship, apart from its delete rule and inverse.
public struct RelationshipOption: Sendable {
    enum Kind: Sendable {
        case ordered
        case required
        case noInverse
        case inverse(String)
        case transient
        case minimum(Int)
        case maximum(Int)
        case renamed(String)
        case versionHashModifier(String)
        case userInfo([String: String])
    }
    let kind: Kind

    /// The members of a to-many have an order, which the app sets.
    public static var ordered: Self { Self(kind: .ordered) }
    /// A save refuses a to-one that is nil, or a to-many without members. With `minCount(0)` beside it, a to-many may be
    /// empty: this is what Core Data means by a required to-many.
    public static var required: Self { Self(kind: .required) }
    /// The relationship of the destination that leads back, by its name alone: `.inverse(\.owner)`.
    ///
    /// Both sides may name each other so, and a relationship may name itself. The key path `inverse: \Tie.owner` may
    /// stand on one side only, because the compiler would have to read each side before the other.
    public static func inverse(_ name: KeyPath<InverseName, InverseName>) -> Self {
        Self(kind: .inverse(InverseName.name(name)))
    }
    /// The destination has no relationship back.
    public static var noInverse: Self { Self(kind: .noInverse) }
    /// The relationship is in memory only, and not in the store.
    public static var transient: Self { Self(kind: .transient) }
    /// The smallest permitted number of members.
    public static func minCount(_ count: Int) -> Self { Self(kind: .minimum(count)) }
    /// The largest permitted number of members.
    public static func maxCount(_ count: Int) -> Self { Self(kind: .maximum(count)) }
    /// The relationship's name in an earlier version of the model.
    public static func renamed(from name: String) -> Self { Self(kind: .renamed(name)) }
    /// Text that is part of the version hash, so that a change of it makes the model another version.
    public static func versionHashModifier(_ text: String) -> Self { Self(kind: .versionHashModifier(text)) }
    /// Values of the app by key, which Strata keeps but does not use.
    public static func userInfo(_ info: [String: String]) -> Self { Self(kind: .userInfo(info)) }
}

/// The name of a relationship in the key path of `.inverse(\.owner)`, which the compiler does not look up.
///
/// `@Relationship` writes the whole key path, so that a name which does not exist is an error.
@dynamicMemberLookup public struct InverseName {
    private var name = ""

    /// Any name.
    public subscript(dynamicMember name: String) -> InverseName { InverseName(name: name) }

    static func name(_ path: KeyPath<InverseName, InverseName>) -> String { InverseName()[keyPath: path].name }
}

/// An option of an entity: an argument of `@Entity`.
public struct EntityOption: Sendable {
    enum Kind: Sendable {
        case abstract
        case unique([String])
        case index(FetchIndexDescription)
        case check(ValidationPredicate)
        case fullText([String])
        case renamed(String)
        case versionHashModifier(String)
        case userInfo([String: String])
    }
    let kind: Kind

    /// The entity has no objects of its own, only those of its subentities.
    public static var abstract: Self { Self(kind: .abstract) }
    /// A uniqueness constraint: no two objects have the same values of all these properties.
    public static func unique(_ names: String...) -> Self { Self(kind: .unique(names)) }
    /// A compound index over properties, in ascending order.
    public static func index(_ names: String...) -> Self {
        Self(
            kind: .index(
                FetchIndexDescription(
                    name: names.joined(separator: ","), elements: names.map { FetchIndexElement($0) })))
    }
    /// An index with directions, folding, or a predicate.
    public static func index(_ index: FetchIndexDescription) -> Self { Self(kind: .index(index)) }
    /// A full text over string attributes: the store lists their words, so that `FetchRequest.matching(_:)` finds the
    /// objects of the entity and its subentities by them.
    public static func fullText(_ names: String...) -> Self { Self(kind: .fullText(names)) }
    /// A condition that a save checks on each object, with the message of the error if it does not hold.
    public static func check(_ predicate: FetchPredicate, message: String) -> Self {
        Self(kind: .check(ValidationPredicate(predicate, message: message)))
    }
    /// The entity's name in an earlier version of the model.
    public static func renamed(from name: String) -> Self { Self(kind: .renamed(name)) }
    /// Text that is part of the version hash, so that a change of it makes the model another version.
    public static func versionHashModifier(_ text: String) -> Self { Self(kind: .versionHashModifier(text)) }
    /// Values of the app by key, which Strata keeps but does not use.
    public static func userInfo(_ info: [String: String]) -> Self { Self(kind: .userInfo(info)) }
}
