import Strata

/// Somebody of the family; their movies go when they go.
@Entity final class FamilyMember: ManagedObject {
    @Attribute(.indexed) var name: String
    @Relationship(deleteRule: .cascade, inverse: \Movie.familyMember) var favoriteMovies: ToMany<Movie>
}

/// A movie that somebody must see; nobody goes with it.
@Entity final class Movie: ManagedObject {
    @Attribute(.indexed) var title: String
    @Relationship(deleteRule: .nullify) var familyMember: FamilyMember?
}
