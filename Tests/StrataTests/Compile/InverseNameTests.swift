import Strata
import Testing

/// Inverses that are named on both sides.
@Suite struct InverseNameTests {
    @Test func bothSidesNameTheirInverse() throws {
        let failures = try Compiler().failures(
            in: """
                import Strata

                enum Wardrobe {
                    @Entity final class Tie: ManagedObject {
                        @Relationship(.inverse(\\.ties)) var owner: Person?
                        @Relationship(inverse: \\Person.gifts) var giver: Person?
                        @Relationship(.inverse(\\.matches)) var matches: ToMany<Tie>
                    }
                    @Entity final class Person: ManagedObject {
                        @Relationship(.inverse(\\.owner), deleteRule: .cascade, .ordered) var ties: ToMany<Wardrobe.Tie>
                        @Relationship(.inverse(\\.giver)) var gifts: ToMany<Tie>
                        @Relationship(.inverse(\\.spouse)) var spouse: Person?
                    }
                }
                """)
        #expect(failures.isEmpty, "\(failures)")
    }

    /// Why `.inverse(\.owner)` exists: the compiler reads the key path of one side to read that of the other, and reports
    /// that before it asks a macro. If this fails, `inverse:` may stand on both sides, and the documents must say so.
    @Test func keyPathsOnBothSidesAreACircleToTheCompiler() throws {
        let failures = try Compiler().failures(
            in: """
                import Strata

                @Entity final class Tie: ManagedObject {
                    @Relationship(inverse: \\Person.ties) var owner: Person?
                }
                @Entity final class Person: ManagedObject {
                    @Relationship(inverse: \\Tie.owner) var ties: ToMany<Tie>
                }
                """)
        #expect(failures.contains { $0.text.contains("circular reference") }, "\(failures)")
    }

    @Test func theModelHasTheInversesThatBothSidesName() throws {
        let container = try makeContainer([Suit.self, Tailor.self])
        #expect(try container.relationship("Suit", "maker").inverseName == "suits")
        #expect(try container.relationship("Tailor", "suits").inverseName == "maker")
        #expect(try container.relationship("Suit", "matches").inverseName == "matches")
        #expect(try container.relationship("Tailor", "rival").inverseName == "rival")
    }

    @Test func anObjectAndItsOwnInverseAreLinkedAtBothEnds() throws {
        let container = try makeOpenContainer([Suit.self, Tailor.self])
        let context = container.newBackgroundContext()
        let ann = Tailor(context: context), bob = Tailor(context: context), suit = Suit(context: context)
        ann.rival = bob
        ann.suits.insert(suit)
        #expect(bob.rival === ann && suit.maker === ann)
        try context.save()
        let other = container.newBackgroundContext()
        #expect(try other.existingObject(with: bob.objectID, as: Tailor.self).rival?.objectID == ann.objectID)
    }

    @Test func sidesThatDoNotAgreeAreRefused() throws {
        let error = #expect(throws: StrataError.self) {
            try makeContainer([Shoe.self, Cobbler.self])
        }
        #expect(error?.code == .invalidModel)
        let sentences = error?.details.map(\.message) ?? []
        #expect(sentences.contains { $0.contains("Shoe.maker") && $0.contains("Cobbler.shoes") }, "\(sentences)")
    }

    @Test func anInverseThatIsNamedTwiceIsRefused() throws {
        let error = #expect(throws: StrataError.self) { try makeContainer([Hat.self, Head.self]) }
        #expect(error?.message.contains("Hat.head names its inverse twice") == true, "\(error?.message ?? "")")
    }
}

@Entity final class Suit: ManagedObject {
    @Relationship(.inverse(\.suits)) var maker: Tailor?
    @Relationship(.inverse(\.matches)) var matches: ToMany<Suit>
}

@Entity final class Tailor: ManagedObject {
    @Relationship(.inverse(\.maker), deleteRule: .cascade) var suits: ToMany<Suit>
    @Relationship(.inverse(\.rival)) var rival: Tailor?
}

@Entity final class Shoe: ManagedObject {
    @Relationship(.inverse(\.shoes)) var maker: Cobbler?
    @Relationship var wearer: Cobbler?
}

@Entity final class Cobbler: ManagedObject {
    @Relationship(.inverse(\.wearer)) var shoes: ToMany<Shoe>
}

@Entity final class Hat: ManagedObject {
    @Relationship(.inverse(\.hat), inverse: \Head.hat) var head: Head?
}

@Entity final class Head: ManagedObject {
    var hat: Hat?
}
