import Foundation

/// One Swift example of a document: what stands between "```swift" and "```" in a page, or in a doc comment.
struct CodeBlock {
    let lines: [String]
    /// The line of the document that the first of `lines` is.
    let line: Int

    var text: String { lines.joined(separator: "\n") }

    /// The examples of a page of Markdown.
    static func blocks(ofPage text: String) -> [CodeBlock] {
        blocks(in: text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
    }

    /// The examples in the doc comments of a source file.
    static func blocks(ofSource text: String) -> [CodeBlock] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
            let comment = line.drop { $0 == " " }
            guard comment.hasPrefix("///") else { return "" }
            return String(comment.dropFirst(comment.hasPrefix("/// ") ? 4 : 3))
        }
        return blocks(in: lines)
    }

    private static func blocks(in lines: [String]) -> [CodeBlock] {
        var blocks: [CodeBlock] = []
        var start: Int?
        for (index, line) in lines.enumerated() where line.hasPrefix("```") {
            if let first = start {
                blocks.append(CodeBlock(lines: Array(lines[first..<index]), line: first + 1))
                start = nil
            } else if line == "```swift" {
                start = index + 1
            } else if line != "```" {
                // A block of another language: its end is not the start of one.
                start = nil
            }
        }
        return blocks
    }
}
