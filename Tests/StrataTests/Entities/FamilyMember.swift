import Strata

// In a file of its own: the inverse is a relationship of a class in another.
@Entity final class FamilyMember: ManagedObject {
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Movie.familyMember) var favoriteMovies: ToMany<Movie>
}
