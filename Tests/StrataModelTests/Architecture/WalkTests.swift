import Foundation
import Testing

/// One of the walks through the code in ARCHITECTURE.md: a fenced block below a heading, in which each line names a file
/// and a function of it, such as `Sources/StrataStore/Store/Store.swift save`, in the order of the calls. The list of
/// deciding functions has the same form, in no order.
struct Walk {
    struct Stop: Hashable {
        let file: String
        let function: String

        /// `StrataStore/Store`
        var layer: String { file.split(separator: "/").dropFirst().dropLast().prefix(2).joined(separator: "/") }
        var folder: String { file.split(separator: "/").dropLast().joined(separator: "/") }
    }

    let stops: [Stop]

    /// - Returns: nil where the page has no such heading.
    init?(_ heading: String, in page: String) {
        let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
        guard let start = lines.firstIndex(of: "## \(heading)") else { return nil }
        let section = lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }
        let block = section.drop { !$0.hasPrefix("```") }.dropFirst().prefix { !$0.hasPrefix("```") }
        stops = block.compactMap { line in
            let words = line.split(whereSeparator: { " `()".contains($0) })
            guard let index = words.firstIndex(where: { $0.contains("Sources/") }), index + 1 < words.count else {
                return nil
            }
            return Stop(file: String(words[index]), function: String(words[index + 1]))
        }
    }

    func changes(of part: (Stop) -> String) -> Int { zip(stops, stops.dropFirst()).count { part($0) != part($1) } }
}

@Suite struct WalkTests {
    private static let page =
        (try? String(contentsOf: LayerTests.root.appending(path: "ARCHITECTURE.md"), encoding: .utf8)) ?? ""

    @Test(
        .enabled(if: Walk("A save", in: page) != nil, "ARCHITECTURE.md has no walks yet"),
        arguments: ["A save", "A fetch"])
    func theWalkNamesWhatThereIs(heading: String) throws {
        let walk = try #require(Walk(heading, in: Self.page))
        #expect((3...15).contains(walk.stops.count))
        for stop in walk.stops { try expectDeclared(stop) }
        #expect(walk.changes { $0.layer } <= 8)
        #expect(walk.changes { $0.folder } <= 12)
    }

    /// The list that leads a newcomer to the function that decides something.
    @Test func theListOfDecidingFunctionsNamesWhatThereIs() throws {
        let list = try #require(Walk("Where is it?", in: Self.page))
        #expect(list.stops.count > 20)
        for stop in list.stops { try expectDeclared(stop) }
    }

    private func expectDeclared(_ stop: Walk.Stop) throws {
        let source = try String(contentsOf: LayerTests.root.appending(path: stop.file), encoding: .utf8)
        let declaration = stop.function == "init" ? "init" : "(func|var|let|case) `?\(stop.function)"
        let expression = try Regex("\\b\(declaration)\\b")
        #expect(source.contains(expression), "\(stop.file) declares no \(stop.function).")
    }

    @Test func aWalkIsReadFromItsBlock() throws {
        let page = """
            # Page
            ## A save
            Text with `Sources/No/Where.swift` `nothing`.
            ```
            Sources/A/B/C.swift  one     the first
            Sources/A/B/D/E.swift  `two()`
              Sources/F/G.swift three
            ```
            ## Another
            """
        let walk = try #require(Walk("A save", in: page))
        #expect(
            walk.stops == [
                .init(file: "Sources/A/B/C.swift", function: "one"),
                .init(file: "Sources/A/B/D/E.swift", function: "two"),
                .init(file: "Sources/F/G.swift", function: "three"),
            ])
        #expect(walk.changes { $0.layer } == 1)
        #expect(walk.changes { $0.folder } == 2)
        #expect(Walk("A fetch", in: page) == nil)
    }
}
