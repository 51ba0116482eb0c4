import Foundation
import StrataModel
import Testing

/// Reads format strings of real apps, if `STRATA_CORPUS` names the folder with them.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["STRATA_CORPUS"] != nil, "STRATA_CORPUS is not set"))
struct CorpusTests {
    /// Lines that are not format strings, with the reason.
    private static let refused = [
        "%K": "a key path without a comparison: a part of a longer string",
        "label MATCHES '": "cut off within a literal, where the app goes on with a value of its own",
    ]

    @Test func everyFormatStringIsReadAndWrittenBack() throws {
        let folder = try #require(ProcessInfo.processInfo.environment["STRATA_CORPUS"])
        let text = try String(contentsOfFile: folder + "/predicates.txt", encoding: .utf8)
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.count > 500)
        var refused: Set<String> = []
        for line in lines {
            do throws(StrataError) {
                let predicate = try FetchPredicate(formatWithPlaceholders: line)
                let again = try FetchPredicate(formatWithPlaceholders: predicate.description)
                #expect(again == predicate, "\(line)")
            } catch {
                #expect(Self.refused[line] != nil, "\(line)\n\(error.message)")
                refused.insert(line)
            }
        }
        #expect(refused == Set(Self.refused.keys))
    }
}
