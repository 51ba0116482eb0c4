import Foundation
import StrataModel
import Testing

/// One line of a table of cases: a format string with arguments, the objects, and the expected result.
///
///     source   where the expectation is stated; stands for the lines below it. "Strata's reading of" a rule is one
///              that the rule does not state as it stands
///     objects  a JSON array; stands for the lines below it
///     format ← [arguments] ⇒ expected
///
/// `expected` is the number of objects for which the predicate holds, or `refused` when reading or evaluating throws.
/// Arguments are JSON; an object as the last one gives values to `$variables`. Lines that begin with `#` are notes.
struct PredicateCase: Sendable, CustomTestStringConvertible {
    let source: String
    let objects: String
    let format: String
    let arguments: String?
    let expected: String
    let line: Int

    var testDescription: String { "\(source): \(format) ⇒ \(expected)" }

    static func table(_ text: String) -> [PredicateCase] {
        var source = "", objects = "[null]"
        var cases: [PredicateCase] = []
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.isEmpty || line.hasPrefix("#") { continue }
            if line.hasPrefix("source ") {
                source = String(line.dropFirst(7))
            } else if line.hasPrefix("objects ") {
                objects = String(line.dropFirst(8))
            } else {
                let halves = line.split(separator: " ⇒ ", maxSplits: 1)
                let parts = halves[0].split(separator: " ← ", maxSplits: 1)
                cases.append(
                    PredicateCase(
                        source: source, objects: objects, format: String(parts[0]),
                        arguments: parts.count == 2 ? String(parts[1]) : nil,
                        expected: halves.count == 2 ? String(halves[1]) : "", line: number + 1))
            }
        }
        return cases
    }

    /// The expected result.
    func outcome() throws -> String {
        let graph = MemoryGraph()
        let objects = try MemoryGraph.nodes(objects).map(graph.operand)
        var nodes = try arguments.map(MemoryGraph.nodes) ?? []
        var variables: [String: MemoryGraph.Node]?
        if case .object(let values)? = nodes.last, !values.keys.contains(where: { $0.hasPrefix("$") }) {
            nodes.removeLast()
            variables = values
        }
        do {
            let arguments = try nodes.map { Self.expression(try graph.operand($0)) }
            var predicate = try FetchPredicate(format: format, argumentArray: arguments)
            if let variables {
                predicate = try predicate.withSubstitutionVariables(
                    try variables.mapValues { Self.expression(try graph.operand($0)) })
            }
            // The description must mean the same.
            let again = try FetchPredicate(format: predicate.description)
            #expect(again == predicate)
            return String(
                try objects.filter { try PredicateEvaluator(graph, object: $0).holds(predicate) }.count)
        } catch let error as StrataError {
            return error.code == .invalidRequest || error.code == .wrongType || error.code == .unknownKey
                ? "refused" : "\(error)"
        }
    }

    private static func expression(_ operand: PredicateOperand) -> FetchExpression {
        switch operand {
        case .one(let value): .constant(value)
        case .many(let members): .aggregate(members.map(FetchExpression.constant))
        }
    }
}

struct PredicateCaseTests {
    private static let tables: [String: String] = [
        "gnustep": gnustepCases, "cappuccino": cappuccinoCases, "swift-foundation": swiftFoundationCases,
        "realm": realmCases, "realm text": realmTextCases, "miocoredata": mioCoreDataCases, "winobjc": winObjCCases,
        "apple": appleCases, "lists": listCases, "odd": oddCases, "apportable": apportableCases,
        "hello": helloProjectsCases,
    ]

    @Test(arguments: tables.keys.sorted())
    func everyCaseComesOutAsItsSourceSays(table: String) throws {
        for row in PredicateCase.table(Self.tables[table] ?? "") {
            let outcome = try row.outcome()
            #expect(outcome == row.expected, "\(table), line \(row.line): \(row.testDescription)")
        }
    }

    /// Cases that follow from Strata's own reading of a rule are marked, and are not counted.
    @Test func thereAreFourHundredCasesWithPublicSources() {
        let cases = Self.tables.values.flatMap(PredicateCase.table)
        #expect(cases.allSatisfy { !$0.source.isEmpty && !$0.expected.isEmpty })
        #expect(cases.count { !$0.source.hasPrefix("Strata") } >= 400)
    }
}
