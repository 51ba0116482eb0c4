import Foundation
import Testing

/// Every public declaration of the library has a documentation comment: types, members, operators, conformances' members,
/// cases of public enums and requirements of public protocols.
@Suite struct PublicDocumentationTests {
    @Test func everyPublicDeclarationIsDocumented() throws {
        let sources = LayerTests.root.appending(path: "Sources")
        let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path(percentEncoded: false))
            .filter { $0.hasPrefix("Strata") && $0.hasSuffix(".swift") }.sorted()
        try #require(files.count > 300)
        var count = 0
        for file in files {
            var scan = DeclarationScan(try String(contentsOf: sources.appending(path: file), encoding: .utf8))
            scan.run()
            count += scan.count
            for line in scan.undocumented {
                Issue.record("Sources/\(file):\(line.number): \(line.declaration)")
            }
        }
        #expect(count > 1000)
    }

    @Test func theScanFindsWhatHasNoComment() {
        var scan = DeclarationScan(
            """
            /// Documented.
            public enum Kind {
                /// Documented.
                case first
                case second
                var inner: Int { switch self { case .first: 1; case .second: 2 } }
            }
            public protocol Shape {
                func draw()
            }
            /// Documented.
            @available(
                *, deprecated, message: "Old."
            )
            @inlinable
            public func plain() {}
            let text = "public func quoted() {"
            struct Hidden { enum Part { case one } }
            @frozen public struct Bare { public static func + (left: Bare, right: Bare) -> Bare { left } }
            """)
        scan.run()
        #expect(scan.undocumented.map(\.number) == [5, 8, 9, 19])
        #expect(scan.count == 7)
    }
}

/// Reads a source line by line and notes its public declarations, and those without a comment above.
private struct DeclarationScan {
    private enum Container { case publicEnum, publicProtocol, other }

    private let lines: [Substring]
    private var containers: [Container] = []
    private var next = Container.other
    private var isInText = false
    private(set) var count = 0
    private(set) var undocumented: [(number: Int, declaration: String)] = []

    init(_ source: String) { lines = source.split(separator: "\n", omittingEmptySubsequences: false) }

    mutating func run() {
        for (index, line) in lines.enumerated() {
            let code = withoutTextAndComments(line)
            let words = Self.words(code)
            if isDeclaration(words) {
                count += 1
                if !isDocumented(index) { undocumented.append((index + 1, line.trimmingPrefix { $0 == " " } + "")) }
            }
            let isPublic = words.contains("public")
            if isPublic, words.contains("enum") { next = .publicEnum }
            if isPublic, words.contains("protocol") { next = .publicProtocol }
            for character in code {
                if character == "{" {
                    containers.append(next)
                    next = .other
                } else if character == "}" {
                    _ = containers.popLast()
                }
            }
        }
    }

    private static let keywords: Set<Substring> = [
        "let", "var", "func", "init", "subscript", "struct", "class", "enum", "protocol", "actor", "typealias",
        "associatedtype", "macro",
    ]
    private static let modifiers: Set<Substring> = [
        "public", "open", "private", "package", "internal", "set", "static", "final", "override", "mutating",
        "consuming",
        "nonisolated", "nonsending", "unsafe", "isolated", "indirect", "convenience", "required", "prefix", "infix",
        "postfix", "weak", "lazy",
    ]

    private func isDeclaration(_ words: [Substring]) -> Bool {
        switch containers.last {
        case .publicEnum where words.first == "case" || words.starts(with: ["indirect", "case"]): return true
        case .publicProtocol where !Self.keywords.isDisjoint(with: words.prefix(3)): return true
        default:
            let modifiers = words.prefix { !Self.keywords.contains($0) }
            return modifiers.count < words.count && modifiers.contains { $0 == "public" || $0 == "open" }
                && modifiers.allSatisfy(Self.modifiers.contains)
        }
    }

    /// Whether the nearest line above is a documentation comment, apart from attributes, conditions and plain comments.
    private func isDocumented(_ index: Int) -> Bool {
        // Parentheses of an attribute that takes several lines, read upwards.
        var open = 0
        for line in lines[..<index].reversed() {
            let text = line.drop { $0 == " " }
            if open == 0, text.hasPrefix("///") { return true }
            let isInside = open > 0
            open += text.count { $0 == ")" } - text.count { $0 == "(" }
            guard isInside || open > 0 || text.hasPrefix("@") || text.hasPrefix("#") || text.hasPrefix("//") else {
                return false
            }
        }
        return false
    }

    /// The words before a declaration's name and parameters, without attributes.
    private static func words(_ code: String) -> [Substring] {
        let plain = code.utf8.contains(UInt8(ascii: "@")) ? code.replacing(/@\w+(\([^)]*\))?/, with: "") : code
        return plain.prefix { !"{=:<".contains($0) }.split { !$0.isLetter }
    }

    private mutating func withoutTextAndComments(_ line: Substring) -> String {
        if !isInText, !line.utf8.contains(UInt8(ascii: "\"")), !line.utf8.contains(UInt8(ascii: "/")) {
            return String(line)
        }
        var code = ""
        var rest = line
        while !rest.isEmpty {
            if isInText {
                guard let end = rest.firstRange(of: "\"\"\"") else { return code }
                rest = rest[end.upperBound...]
                isInText = false
            } else if rest.hasPrefix("\"\"\"") {
                rest = rest.dropFirst(3)
                isInText = true
            } else if rest.hasPrefix("//") {
                return code
            } else if rest.first == "\"" {
                rest = rest.dropFirst()
                while let character = rest.popFirst(), character != "\"" {
                    if character == "\\" { _ = rest.popFirst() }
                }
            } else if let character = rest.popFirst() {
                code.append(character)
            }
        }
        return code
    }
}
