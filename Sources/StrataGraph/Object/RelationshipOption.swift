public import StrataModel

/// Something said about a relationship besides its delete rule and inverse.
public struct RelationshipOption: Sendable {
    enum Kind: Sendable {
        case ordered
        case required
        case noInverse
        case transient
        case minimum(Int)
        case maximum(Int)
        case renamed(String)
        case versionHashModifier(String)
        case userInfo([String: String])
    }
    let kind: Kind

    /// The members of a to-many keep the order they are put in.
    public static var ordered: Self { Self(kind: .ordered) }
    /// A to-one that may not be nil, or a to-many that may not be empty, when saved.
    public static var required: Self { Self(kind: .required) }
    /// The destination has no relationship back.
    public static var noInverse: Self { Self(kind: .noInverse) }
    /// Kept in memory only.
    public static var transient: Self { Self(kind: .transient) }
    /// Fewest members.
    public static func minCount(_ count: Int) -> Self { Self(kind: .minimum(count)) }
    /// Most members.
    public static func maxCount(_ count: Int) -> Self { Self(kind: .maximum(count)) }
    /// The relationship's name in an earlier version of the model.
    public static func renamed(from name: String) -> Self { Self(kind: .renamed(name)) }
    public static func versionHashModifier(_ text: String) -> Self { Self(kind: .versionHashModifier(text)) }
    public static func userInfo(_ info: [String: String]) -> Self { Self(kind: .userInfo(info)) }
}

/// Something said about a whole entity: the arguments of `@Entity`.
public struct EntityOption: Sendable {
    enum Kind: Sendable {
        case abstract
        case unique([String])
        case index(FetchIndexDescription)
        case check(ValidationPredicate)
        case renamed(String)
        case versionHashModifier(String)
        case userInfo([String: String])
    }
    let kind: Kind

    /// It has no objects of its own, only those of its subentities.
    public static var abstract: Self { Self(kind: .abstract) }
    /// No two objects share the values of all these properties.
    public static func unique(_ names: String...) -> Self { Self(kind: .unique(names)) }
    /// A compound index over these properties, ascending.
    public static func index(_ names: String...) -> Self {
        Self(
            kind: .index(
                FetchIndexDescription(
                    name: names.joined(separator: ","), elements: names.map { FetchIndexElement($0) })))
    }
    /// An index with all that can be said of one: directions, folding, a partial predicate.
    public static func index(_ index: FetchIndexDescription) -> Self { Self(kind: .index(index)) }
    /// A condition over the whole object, and what is said when it does not hold at save.
    public static func check(_ predicate: FetchPredicate, message: String) -> Self {
        Self(kind: .check(ValidationPredicate(predicate, message: message)))
    }
    /// The entity's name in an earlier version of the model.
    public static func renamed(from name: String) -> Self { Self(kind: .renamed(name)) }
    public static func versionHashModifier(_ text: String) -> Self { Self(kind: .versionHashModifier(text)) }
    public static func userInfo(_ info: [String: String]) -> Self { Self(kind: .userInfo(info)) }
}
