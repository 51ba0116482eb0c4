import Testing

/// What the compiler says of common mistakes in a declaration.
@Suite struct MistakeCompileTests {
    @Test func anOptionThatDoesNotSuitTheTypeIsAnErrorAtItsAttribute() throws {
        try expectRefusals(
            in: """
                import Foundation
                import Strata

                @Entity final class Movie: ManagedObject {
                    @Attribute(.range(0...5)) var title: String  // refused
                    @Attribute(.length(1...)) var year: Int  // refused
                    @Attribute(.externalStorage) var note: String?  // refused
                    @Attribute(.pattern("[0-9]*")) var rating: Double  // refused
                    @Attribute(.range(0...0.5)) var count: Int  // refused
                    @Attribute(.indexed(.caseInsensitive)) var date: Date?  // refused
                    @Attribute(.range(0...5), .indexed) var stars: Int
                    @Attribute(.length(1...)) var name: String
                }
                """)
    }

    /// The commonest mistakes: the first error is a sentence about the mistake, at its place.
    @Test(arguments: [
        ("@Attribute(.range(0...5)) var title: String", "The range does not suit the attribute"),
        ("@Attribute(.range(0...0.5)) var count: Int", "The range does not suit the attribute"),
        ("@Attribute(.length(1...)) var year: Int?", "Only strings and data have a length"),
        ("@Attribute(.pattern(\"[0-9]*\")) var rating: Double", "Only a String has a pattern"),
        ("@Attribute(.externalStorage) var note: String?", "Only Data can be stored in files of its own"),
        ("@Attribute(.indexed(.caseInsensitive)) var date: Date?", "Only a String has an index that ignores case"),
        ("@Attribute(.indexd) var title: String", "has no member 'indexd'"),
        ("@Attribute(.range(0..<10)) var count: Int", "The bounds of an attribute are included"),
        ("@Attribute(.length(1..<10)) var title: String", "The bounds of a length are included"),
        ("@Attribute(.indexed) var tie: Tie?", "write @Relationship in place of @Attribute"),
        ("@Attribute(.unique, .renamed(from: \"a\")) var tie: Tie?", "write @Relationship in place of @Attribute"),
        ("@Relationship(.orderd) var ties: ToMany<Tie>", "has no member 'orderd'"),
        ("@Relationship(deleteRule: .cascde) var ties: ToMany<Tie>", "has no member 'cascde'"),
        ("@Relationship(inverse: \\Tie.ownr) var ties: ToMany<Tie>", "'ownr'"),
        ("@Relationship(deleteRule: .cascade, .orderd) var ties: ToMany<Tie>", "has no member 'orderd'"),
        ("@Relationship(.inverse(\\.ownr)) var ties: ToMany<Tie>", "has no member 'ownr'"),
        ("@Relationship(.invers(\\.owner)) var ties: ToMany<Tie>", "has no member 'invers'"),
    ])
    func aMistakeIsToldInASentence(property: String, sentence: String) throws {
        let failures = try Compiler().failures(
            in: """
                import Foundation
                import Strata

                @Entity final class Tie: ManagedObject { var owner: Person? }
                @Entity final class Person: ManagedObject {
                    \(property)
                }
                """)
        #expect(failures.first?.line == 6 && failures.first?.text.contains(sentence) == true, "\(failures)")
        for riddle in ["no exact matches", "circular reference", "ambiguous", "cannot convert"] {
            #expect(!failures.contains { $0.text.contains(riddle) }, "\(failures)")
        }
    }

    /// A default does not hide which types an attribute can have.
    @Test func aTypeThatNoAttributeHasIsToldInASentenceBesideADefault() throws {
        let failures = try Compiler().failures(
            in: """
                import Strata
                enum Mood { case calm }
                @Entity final class Person: ManagedObject {
                    var mood: Mood = .calm
                    var notes: [String: Any] = [:]
                }
                """)
        #expect(failures.contains { $0.text.contains("must be Codable and Sendable") }, "\(failures)")
        #expect(failures.allSatisfy { $0.text.contains("is unavailable") }, "\(failures)")
    }

    /// A relationship leads to another class of the model and nowhere else.
    @Test(arguments: [
        "@Relationship var plain: Plain?", "@Relationship var plain: Plain", "@Relationship var value: Value?",
        "@Relationship(deleteRule: .cascade) var plain: Plain?", "@Relationship(.required) var value: Value?",
        "@Relationship(inverse: \\Person.ties) var plain: Plain?", "@Relationship(.ordered) var plains: [Plain]",
        "@Relationship var owner: Person",
    ])
    func aRelationshipToSomethingElseIsToldInASentence(property: String) throws {
        let failures = try Compiler().failures(
            in: """
                import Strata
                final class Plain {}
                struct Value: Codable {}
                @Entity final class Person: ManagedObject { var ties: ToMany<Tie> }
                @Entity final class Tie: ManagedObject {
                    \(property)
                    var person: Person?
                }
                """)
        #expect(failures.contains { $0.line == 6 }, "\(failures)")
        let sentence =
            property.hasSuffix("owner: Person") ? "must be optional" : "A relationship leads to an @Entity class"
        #expect(failures.contains { $0.text.contains(sentence) }, "\(failures)")
        for riddle in ["no exact matches", "ambiguous", "cannot convert"] {
            #expect(!failures.contains { $0.text.contains(riddle) }, "\(failures)")
        }
    }

    @Test func aPrivateEntityInsideATypeIsToldInASentence() throws {
        let failures = try Compiler().failures(
            in: """
                import Strata
                struct Store {
                    @Entity private final class Person: ManagedObject { var name: String }
                    @Entity fileprivate final class Tie: ManagedObject { var name: String }
                }
                """)
        #expect(failures.count == 1 && failures.first?.line == 3, "\(failures)")
        #expect(failures.first?.text.contains("write 'fileprivate'") == true, "\(failures)")
    }

    @Test func aTypeThatNoPropertyHasIsAnErrorWithAReason() throws {
        let source = """
            import Strata
            final class Plain {}
            @Entity final class Movie: ManagedObject {
                var plain: Plain?
            }
            @Entity final class Person: ManagedObject {
                var first: Movie
            }
            @Entity final class Shelf: ManagedObject {
                var movies: [Movie]
            }
            """
        let texts = try Compiler().failures(in: source).map(\.text)
        #expect(texts.contains { $0.contains("must be Codable and Sendable; for others use '.transformable(by:)'") })
        #expect(texts.contains { $0.contains("A to-one relationship must be optional") })
        #expect(texts.contains { $0.contains("A to-many relationship must have the type ToMany.") })
        #expect(texts.allSatisfy { $0.contains("is unavailable") })
    }

    @Test func aDefaultOfAnotherTypeIsRefused() throws {
        try expectRefusals(
            in: """
                import Strata

                enum Mood: String { case calm }
                @Entity final class Movie: ManagedObject {
                    @Attribute(.indexed) var title: String = 5  // refused
                    @Attribute(.indexed) var mood: Mood = .wild  // refused
                }
                """)
    }

    @Test func oneFaultOfAVariableIsOneError() throws {
        try expectRefusals(
            in: """
                import Strata

                @Entity final class Dog: ManagedObject {
                    let born: Int  // refused
                    var weight = 3.5  // refused
                    var a: Int, b: Int  // refused
                    var (c, d): (Int, Int)  // refused
                    var age: Int { didSet {} }  // refused
                    @Transient var cache: Int  // refused
                    lazy var bark = "wow"  // refused
                    weak var friend: Dog?  // refused
                    var name: String
                }

                func make(in context: ManagedObjectContext) -> String {
                    let dog = Dog(context: context)
                    dog.weight += 1
                    return dog.name
                }
                """)
    }
}
