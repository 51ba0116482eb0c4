import ArgumentParser
import Foundation
import StrataModel

/// `strata predicate`: checks format strings, one on each line, and prints each in canonical form or its error.
struct PredicateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "predicate",
        abstract: "Checks format strings, one on each line, and prints each in canonical form or its error.",
        discussion: """
            FILE holds format strings such as 'rating > %@ AND ANY cast.name CONTAINS[cd] %@', or is - for standard \
            input. Empty lines are skipped. Arguments are not needed: %@, %K and the other specifiers stay as they \
            are.

            --json prints one object a line: {"line", "format", "canonical"} or {"line", "format", "column", "expected", \
            "error"}, and at last {"valid", "invalid"}. Exit code 1 when a line is wrong.

            Examples:
                strata predicate formats.txt
                echo 'rating > 4 AND name LIKE[c] "r*"' | strata predicate -
            """)

    @Argument(help: ArgumentHelp("The file, or -.", valueName: "file")) var file: String
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let text = try Self.contents(of: file)
        let style = Style.standard
        var valid = 0, invalid = 0
        // Only line feeds end a line: a format string may contain Unicode's other line separators.
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let format = line.last == "\r" ? String(line.dropLast()) : String(line)
            if format.allSatisfy(\.isWhitespace) { continue }
            let result = Self.read(format)
            if case .success = result { valid += 1 } else { invalid += 1 }
            Output.shared.line(
                try json ? Self.jsonLine(index + 1, format, result) : Self.textLines(index + 1, result, style))
        }
        Output.shared.line(
            try json
                ? JSONText.of(["valid": valid, "invalid": invalid], isPretty: false)
                : "\(valid) valid, \(invalid) invalid")
        if invalid > 0 { throw ExitStatus.FoundProblem() }
    }

    private static func contents(of file: String) throws -> String {
        let data: Data
        if file == "-" {
            data = try FileHandle.standardInput.readToEnd() ?? Data()
        } else {
            do {
                // A pipe, too, as a shell names one.
                data = try FileHandle(forReadingFrom: URL(filePath: file)).readToEnd() ?? Data()
            } catch {
                throw UsageError("\(file) cannot be read: \(error.systemReason)")
            }
        }
        guard let text = String(validating: data, as: UTF8.self) else { throw UsageError("\(file) is not UTF-8.") }
        // A carriage return and a line feed are one Character.
        return text.replacing("\r\n", with: "\n")
    }

    private static func read(_ format: String) -> Result<FetchPredicate, StrataError> {
        do throws(StrataError) {
            return .success(try FetchPredicate(formatWithPlaceholders: format))
        } catch {
            return .failure(error)
        }
    }

    // MARK: Printing

    private static func textLines(_ line: Int, _ result: Result<FetchPredicate, StrataError>, _ style: Style) -> String
    {
        switch result {
        case .success(let predicate): "\(line): \(predicate)"
        case .failure(let error): "\(line): \(style("error:", .red)) \(error.message)"
        }
    }

    private static func jsonLine(
        _ line: Int, _ format: String, _ result: Result<FetchPredicate, StrataError>
    ) throws -> String {
        let row: JSONObject
        switch result {
        case .success(let predicate): row = ["line": line, "format": format, "canonical": predicate.description]
        case .failure(let error):
            let cause = error.cause as? FetchFormatError
            row = [
                "line": line, "format": format, "column": cause?.column, "expected": cause?.expected,
                "error": cause?.sentence ?? error.message,
            ]
        }
        return try JSONText.of(row, isPretty: false)
    }
}
