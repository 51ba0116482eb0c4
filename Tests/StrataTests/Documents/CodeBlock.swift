import Foundation

/// One example of a document: what stands between two fences in a page, or in a doc comment.
struct CodeBlock {
    /// What the first fence names: "swift", "text" or nothing.
    let language: String
    let lines: [String]
    /// The line of the document that the first of `lines` is.
    let line: Int
    /// Whether both fences stand at the beginning of their lines, and the second is there.
    let isWellFormed: Bool

    var text: String { lines.joined(separator: "\n") }

    /// The Swift examples of a page of Markdown.
    static func blocks(ofPage text: String) -> [CodeBlock] { all(ofPage: text).filter { $0.language == "swift" } }

    /// The Swift examples in the doc comments of a source file.
    static func blocks(ofSource text: String) -> [CodeBlock] { all(ofSource: text).filter { $0.language == "swift" } }

    /// All blocks of a page of Markdown.
    static func all(ofPage text: String) -> [CodeBlock] { blocks(in: lines(of: text)) }

    /// All blocks in the comments of a source file.
    static func all(ofSource text: String) -> [CodeBlock] {
        blocks(
            in: lines(of: text).map { line -> String in
                let comment = line.drop { $0 == " " }
                let marks = comment.prefix { $0 == "/" }.count
                guard marks == 2 || marks == 3 else { return "" }
                let words = comment.dropFirst(marks)
                return String(words.first == " " ? words.dropFirst() : words)
            })
    }

    /// Whether something in the block looks like Swift.
    var looksLikeSwift: Bool {
        lines.contains { line in
            let words = line.split(separator: " ")
            return ["let", "var", "func", "import", "try", "await", "struct", "final", "class", "enum", "guard"]
                .contains(words.first ?? "") || line.contains(/^ *[@#][A-Z]/)
        }
    }

    private static func lines(of text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    private static func blocks(in lines: [String]) -> [CodeBlock] {
        var blocks: [CodeBlock] = []
        var start: (index: Int, fence: String)?
        func block(through end: Int, _ isClosed: Bool) -> CodeBlock? {
            guard let (index, fence) = start else { return nil }
            return CodeBlock(
                language: String(fence.drop { $0 == " " || $0 == "`" || $0 == "~" }),
                lines: Array(lines[index + 1..<end]), line: index + 2, isWellFormed: isClosed && fence.hasPrefix("```"))
        }
        for (index, line) in lines.enumerated() {
            let words = line.drop { $0 == " " }
            guard words.hasPrefix("```") || words.hasPrefix("~~~") else { continue }
            if let block = block(through: index, line == "```") {
                blocks.append(block)
                start = nil
            } else {
                start = (index, line)
            }
        }
        if let block = block(through: lines.count, false) { blocks.append(block) }
        return blocks
    }
}
