// The macros of entities: `@Entity`, `@Attribute`, `@Relationship` and `@Transient`.

/// Makes a class an entity of the model: each stored variable becomes a property whose values are in the store.
///
/// ```swift
/// @Entity final class Movie: ManagedObject {
///     @Attribute(.indexed) var title: String
///     @Attribute(.range(0...5)) var rating: Double = 0
///     var familyMember: FamilyMember?
/// }
/// @Entity final class FamilyMember: ManagedObject {
///     var name: String
///     @Relationship(deleteRule: .cascade, inverse: \Movie.familyMember) var favoriteMovies: ToMany<Movie>
/// }
/// ```
///
/// The class inherits from `ManagedObject` or from another entity, which may be of another module. A variable is a
/// property of the model unless it is computed, static or `@Transient`. Write its type out:
///
/// - an attribute: a number, `String`, `Bool`, `Decimal`, `Date`, `UUID`, `URL`, `Data`, `ObjectID`, an enum over one of
///   these, or any `Codable & Sendable` type, optional or not;
/// - a to-one relationship: another entity as an optional;
/// - a to-many relationship: `ToMany` of another entity.
///
/// The initial value of an attribute is its default. It is evaluated once and part of the model, so set values that
/// differ from object to object (a new UUID, the present date) in `awakeFromInsert()`.
///
/// Declare the class in a file or in another type, not in a function. It cannot have generic parameters.
/// - Parameter options: Options of the entity as a whole: abstract, unique or indexed over several properties, a condition
///   over the object, its name in an earlier model.
@attached(memberAttribute)
@attached(
    member,
    names: named(entityName), named(_validatesValues), named(_observesDeletion), named(entityDefinition),
    named(_visitKeyPath), named(_ownValue), named(init), prefixed(_propertyBase_), prefixed(_propertyEnd_),
    prefixed(_describe_))
@attached(extension, conformances: ManagedEntity)
public macro Entity(_ options: EntityOption...) = #externalMacro(module: "StrataMacros", type: "EntityMacro")

/// Gives an attribute options beside its type and default, such as an index, uniqueness, a range or an earlier name.
///
/// The compiler checks the options against the attribute's type: `.range(0...5)` of a `String` does not compile.
/// - Parameter options: The options; see ``AttributeOption``.
@attached(peer, names: prefixed(_describeProperty_))
public macro Attribute(_ options: AnyAttributeOption...) =
    #externalMacro(module: "StrataMacros", type: "AttributeMacro")

/// Gives a relationship its delete rule, its inverse and options.
///
/// `inverse: \Tie.owner` names the inverse by its key path, on one side only: on both sides the compiler reports a
/// circular reference before it asks any macro. To name it on both sides, or as the inverse of itself, write
/// `.inverse(\.owner)`:
///
/// ```swift
/// @Entity final class Tie: ManagedObject {
///     @Relationship(.inverse(\.ties)) var owner: FamilyMember?
/// }
/// @Entity final class FamilyMember: ManagedObject {
///     @Relationship(.inverse(\.owner), deleteRule: .cascade) var ties: ToMany<Tie>
///     @Relationship(.inverse(\.spouse)) var spouse: FamilyMember?
/// }
/// ```
///
/// If two sides do not agree, the model is refused when it is made.
/// - Parameters:
///   - options: Options such as `.ordered`, `.required`, `.maxCount(12)`, `.noInverse`; see ``RelationshipOption``.
///   - deleteRule: What happens to the objects at the other end when this one is deleted.
///   - inverse: The key path of the destination's relationship that is this one read backwards.
///   - others: Options may also stand at the end.
@attached(peer, names: prefixed(_describeProperty_))
public macro Relationship(
    _ options: RelationshipOption..., deleteRule: DeleteRule = .nullify, inverse: AnyKeyPath? = nil,
    _ others: RelationshipOption...
) = #externalMacro(module: "StrataMacros", type: "RelationshipMacro")

/// Keeps a variable of an entity out of the model: a plain Swift property that is not stored.
///
/// For a value that is part of the model but not of the store, use `@Attribute(.transient)`.
@attached(peer)
public macro Transient() = #externalMacro(module: "StrataMacros", type: "TransientMacro")

/// Gives a variable the accessors of the property at `index`; `@Entity` attaches it.
@attached(accessor)
public macro _ManagedProperty(_ index: Int) =
    #externalMacro(module: "StrataMacros", type: "ManagedPropertyMacro")
