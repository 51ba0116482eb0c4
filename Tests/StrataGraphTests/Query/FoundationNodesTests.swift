import Foundation
import StrataGraph
import StrataModel
import Testing

/// Every expression that `#Predicate` has on Linux: the store finds what Foundation's own evaluation finds.
@Suite(.verifiesStores) struct FoundationNodesTests {
    /// The structs in `PredicateExpressions` of Foundation's Linux build that a predicate may hold. `ExpressionEvaluate`
    /// is the one more, and is there for an `#Expression` alone.
    private static let nodes: Set = [
        "Arithmetic", "ClosedRange", "CollectionContainsCollection", "CollectionIndexSubscript",
        "CollectionRangeSubscript", "Comparison", "Conditional", "ConditionalCast", "Conjunction",
        "DictionaryKeyDefaultValueSubscript", "DictionaryKeySubscript", "Disjunction", "Equal",
        "Filter", "FloatDivision", "ForceCast", "ForcedUnwrap", "IntDivision", "IntRemainder", "KeyPath", "Negation",
        "NilCoalesce", "NilLiteral", "NotEqual", "OptionalFlatMap", "Range", "RangeExpressionContains",
        "SequenceAllSatisfy", "SequenceContains", "SequenceContainsWhere", "SequenceMaximum", "SequenceMinimum",
        "SequenceStartsWith", "StringContainsRegex", "TypeCheck", "UnaryMinus", "Value", "Variable",
    ]

    private static let list = [4, -3, 9, 2]
    private static let range = -3..<3
    private static let words = ["one": 1, "two": 2]

    private static var numbers: [Predicate<Kinds>] {
        let (list, range, words) = (list, range, words)
        let third = 1
        var all: [Predicate<Kinds>] = []
        all.append(#Predicate<Kinds> { -$0.plain == 3 || -$0.double < -1.5 })
        all.append(#Predicate<Kinds> { $0.plain / 2 == -1 })
        all.append(#Predicate<Kinds> { $0.plain % 4 == -3 && $0.plain != 7 })
        all.append(#Predicate<Kinds> { $0.double / 2 > 0.75 })
        all.append(#Predicate<Kinds> { $0.plain + 3 > 5 && !($0.double > 2) })
        all.append(#Predicate<Kinds> { $0.double * 2 == 3 || $0.plain - 1 == -3 })
        all.append(#Predicate<Kinds> { ($0.flag ? $0.plain : 0) > 1 })
        all.append(#Predicate<Kinds> { ($0.plainOrNil ?? 4) >= 4 })
        all.append(#Predicate<Kinds> { $0.plainOrNil != nil && $0.plainOrNil! > 1 })
        all.append(#Predicate<Kinds> { $0.textOrNil?.isEmpty == false })
        all.append(#Predicate<Kinds> { $0.textOrNil.flatMap { $0.count > 1 } ?? false })
        all.append(#Predicate<Kinds> { $0.textOrNil == nil })
        all.append(#Predicate<Kinds> { $0.textOrNil != "Ärger" })
        all.append(#Predicate<Kinds> { list.max()! - 5 == $0.plain })
        all.append(#Predicate<Kinds> { list.min() == $0.plainOrNil || list.min()! == $0.plain })
        all.append(#Predicate<Kinds> { list[third] == $0.plain })
        all.append(#Predicate<Kinds> { list[1..<3].contains($0.plain) })
        all.append(#Predicate<Kinds> { kinds in list[0..<third].contains { $0 == kinds.plain } })
        all.append(#Predicate<Kinds> { range.contains($0.plain) })
        all.append(#Predicate<Kinds> { ($0.plain..<9).contains(3) })
        all.append(#Predicate<Kinds> { ($0.plain...9).contains(2) })
        all.append(#Predicate<Kinds> { list.contains($0.plain) })
        all.append(#Predicate<Kinds> { kinds in list.allSatisfy { $0 <= kinds.plain + 7 } })
        all.append(#Predicate<Kinds> { kinds in list.filter { $0 > kinds.plain + 4 }.isEmpty == false })
        all.append(#Predicate<Kinds> { kinds in list.contains { $0 > kinds.plain + 3 } })
        all.append(#Predicate<Kinds> { words[$0.text] == 2 })
        all.append(#Predicate<Kinds> { words[$0.text, default: 9] > 1 })
        all.append(#Predicate<Kinds> { $0.text.contains("n") })
        all.append(#Predicate<Kinds> { $0.text.starts(with: "t") })
        all.append(#Predicate<Kinds> { $0.text.contains(/^.[nw]/) })
        all.append(#Predicate<Kinds> { $0.text < "p" })
        return all
    }

    @Test func theStoreFindsWhatFoundationFinds() throws {
        ValueTransformer.setValueTransformer(ColorTransformer(), forName: "Color")
        let container = try makeContainer([Kinds.self] + graphEntities)
        let context = container.newBackgroundContext()
        let rows: [(String, String?, Int, Int?, Double, Bool)] = [
            ("one", "Ärger", 4, nil, 1.5, true), ("two", nil, -3, 5, 2.25, true), ("", "", 0, -3, -1, false),
            ("three", "x", 7, 2, 3, false), ("six", "yy", 2, 9, 1, true), ("in", nil, -2, 1, 1.75, false),
        ]
        for (text, textOrNil, plain, plainOrNil, double, flag) in rows {
            let kinds = Kinds(context: context)
            (kinds.text, kinds.textOrNil, kinds.plain, kinds.plainOrNil) = (text, textOrNil, plain, plainOrNil)
            (kinds.double, kinds.flag) = (double, flag)
            (kinds.medium, kinds.large, kinds.single, kinds.money) = (1, 1, 1, 1)
        }
        let all = try context.fetch(FetchRequest<Kinds>().sorted(by: \.plain))
        for _ in 0..<2 {
            for predicate in Self.numbers {
                let wanted = try all.filter { try predicate.evaluate($0) }
                let tree = try FetchPredicate(predicate)
                #expect(try context.fetch(FetchRequest(predicate).sorted(by: \.plain)) == wanted, "\(tree)")
                #expect(!wanted.isEmpty && wanted.count < all.count, "\(tree)")
                #expect(try FetchPredicate(format: tree.description) == tree, "\(tree)")
            }
            try context.save()
        }
    }

    /// The class is one that the compiler does not know, for it warns of casts that always succeed.
    private static func people<Target: Person>(_ target: Target.Type) -> [Predicate<Employee>] {
        var all: [Predicate<Employee>] = []
        all.append(#Predicate<Employee> { ($0 as? Target) != nil && $0.name == "Ann" })
        all.append(#Predicate<Employee> { ($0 as! Target).name != "Ann" })
        all.append(#Predicate<Employee> { $0 is Target && $0.name == "Ann" })
        all.append(#Predicate<Employee> { $0.friends.filter { $0.name == "Bob" }.count > 0 })
        all.append(#Predicate<Employee> { employee in employee.friends.allSatisfy { $0.name == employee.name } })
        all.append(#Predicate<Employee> { $0.friends.contains { $0.boss == nil } })
        return all
    }

    @Test func castsAndMembersMeanWhatTheyMeanInSwift() throws {
        let context = try makeContainer(graphEntities).newBackgroundContext()
        let people = ["Ann", "Bob", "Ann"].map { name in
            let person = Employee(context: context)
            person.name = name
            return person
        }
        people[0].friends = [people[1]]
        people[1].boss = people[2]
        for predicate in Self.people(Person.self) {
            let wanted = Set(try people.filter { try predicate.evaluate($0) }.map(\.objectID))
            let tree = try FetchPredicate(predicate)
            #expect(Set(try context.fetchObjectIDs(FetchRequest(predicate))) == wanted, "\(tree)")
        }
    }

    @Test func everyExpressionOfTheLinuxBuildIsAmongThem() {
        let types =
            Self.numbers.map { String(describing: type(of: $0.expression)) }
            + Self.people(Person.self).map { String(describing: type(of: $0.expression)) }
        let names = types.flatMap { $0.matches(of: /[A-Za-z]+/).map { String($0.output) } }
        #expect(Self.nodes.subtracting(names).isEmpty)
    }

    @Test func whatTheStoreCannotAnswerNamesItsNode() throws {
        func node<Root>(_ predicate: Predicate<Root>) -> String? where Root: ManagedObject {
            thrownError { _ = try FetchPredicate(predicate) }?.context.key
        }
        #expect(node(#Predicate<Person> { $0 is Employee }) == "TypeCheck")
        #expect(node(#Predicate<Person> { ($0 as? Employee)?.name == "x" }) == "ConditionalCast")
        #expect(node(#Predicate<Person> { ($0 as! Employee).name == "x" }) == "ForceCast")
    }
}
