/// Makes a class an entity of the model: each `var` of it becomes a property whose values are in the store.
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
/// The class inherits from `ManagedObject` or from another entity, also of another module. A variable is a property of
/// the model unless it is computed, static or `@Transient`. Its type is written out: a number, `String`, `Bool`,
/// `Decimal`, `Date`, `UUID`, `URL`, `Data`, `ObjectID`, an enum over one of these, or any `Codable & Sendable` type;
/// another entity as an optional (a to-one relationship) or in `ToMany` (a to-many one); each but the last optional or
/// not. The initial value of an attribute is its default: it is evaluated once and part of the model, so what differs
/// from object to object (a new UUID, the present date) is set in `awakeFromInsert()`.
///
/// The class is declared in a file or in another type, not in a function, and has no generic parameters.
/// - Parameter options: What is said of the entity as a whole: that it is abstract, unique over several properties,
///   indexed over several, renamed.
@attached(memberAttribute)
@attached(
    member,
    names: named(entityName), named(_validatesValues), named(_observesDeletion), named(entityDefinition),
    named(_visitKeyPath), named(init), prefixed(_propertyBase_), prefixed(_propertyEnd_), prefixed(_describe_))
@attached(extension, conformances: ManagedEntity)
public macro Entity(_ options: EntityOption...) = #externalMacro(module: "StrataMacros", type: "EntityMacro")

/// Says more of an attribute than its type and default: that it is indexed, unique, bounded, transformable, renamed.
///
/// The options are checked against the attribute's type: `.range(0...5)` of a `String` does not compile.
@attached(peer, names: prefixed(_describeProperty_))
public macro Attribute(_ options: AnyAttributeOption...) =
    #externalMacro(module: "StrataMacros", type: "AttributeMacro")

/// Says of a relationship what happens when its object is deleted, which relationship is its inverse, and more.
///
/// The inverse is named on one side only: named on both, the compiler goes round in circles.
/// - Parameters:
///   - options: Whether it is ordered, required, bounded in count, without an inverse, renamed.
///   - deleteRule: What becomes of the objects at the other end when this one is deleted.
///   - inverse: The key path of the destination's relationship that is this one read backwards.
@attached(peer, names: prefixed(_describeProperty_))
public macro Relationship(
    _ options: RelationshipOption..., deleteRule: DeleteRule = .nullify, inverse: AnyKeyPath? = nil
) = #externalMacro(module: "StrataMacros", type: "RelationshipMacro")

/// `@Relationship` with the options at the end.
@attached(peer, names: prefixed(_describeProperty_))
public macro Relationship(
    deleteRule: DeleteRule, inverse: AnyKeyPath? = nil, _ option: RelationshipOption, _ others: RelationshipOption...
) = #externalMacro(module: "StrataMacros", type: "RelationshipMacro")

/// `@Relationship` with the options at the end.
@attached(peer, names: prefixed(_describeProperty_))
public macro Relationship(
    inverse: AnyKeyPath, _ option: RelationshipOption, _ others: RelationshipOption...
) = #externalMacro(module: "StrataMacros", type: "RelationshipMacro")

/// Leaves a variable of an entity outside the model: a plain Swift property, which the store knows nothing of.
///
/// A value that is part of the model but not of the store is an attribute that is `@Attribute(.transient)`.
@attached(peer)
public macro Transient() = #externalMacro(module: "StrataMacros", type: "TransientMacro")

/// Gives a variable the accessors of the property at `index`; `@Entity` writes it.
@attached(accessor)
public macro _ManagedProperty(_ index: Int) =
    #externalMacro(module: "StrataMacros", type: "ManagedPropertyMacro")
