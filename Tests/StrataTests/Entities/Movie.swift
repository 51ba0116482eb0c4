import Strata

@Entity final class Movie: ManagedObject {
    @Attribute(.indexed) var title: String
    @Attribute(.range(0...5)) var rating: Double = 0
    var familyMember: FamilyMember?
}
