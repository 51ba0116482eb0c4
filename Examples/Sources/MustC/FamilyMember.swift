import Strata

/// A member of the family; deleting one deletes their movies too.
@Entity final class FamilyMember: ManagedObject {
    @Attribute(.indexed) var name: String
    @Relationship(deleteRule: .cascade, inverse: \Movie.familyMember) var favoriteMovies: ToMany<Movie>
}

/// A movie that a member wants to see; deleting one deletes no member.
@Entity final class Movie: ManagedObject {
    @Attribute(.indexed) var title: String
    @Relationship(deleteRule: .nullify) var familyMember: FamilyMember?
}
