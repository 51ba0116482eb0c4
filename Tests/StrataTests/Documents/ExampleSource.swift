import Foundation

/// Makes a Swift file of a document's examples, for the compiler to check.
///
/// The classes and other types that a page declares become members of one enum, which all its examples see; everything
/// else becomes the body of one function an example, whose parameters are what examples may take for granted
/// (`ExamplePrelude`). Errors are reported at the line of the document.
struct ExampleSource {
    let name: String
    private let path: String
    private var imports: [String] = []
    private var declarations: [String] = []
    private var extensions: [String] = []
    private var functions: [String] = []
    private var declared: Set<String> = []

    init(name: String, path: String, blocks: [CodeBlock]) {
        self.name = name
        self.path = path
        for (index, block) in blocks.enumerated() { add(block, index + 1) }
    }

    var text: String {
        let modules = ["Foundation", "Strata", "StrataCoreData", "StrataXcode"].map { "import \($0)" }
        let lines = modules + imports + ["enum \(name) {"] + declarations + functions + ["}"] + extensions
        return lines.joined(separator: "\n") + "\n"
    }

    private mutating func add(_ block: CodeBlock, _ number: Int) {
        var statements: [String] = []
        var types: [String] = []
        var clashes = false
        for chunk in Self.chunks(of: block) {
            let located = located(chunk)
            switch chunk.kind {
            case .imported: imports.append(chunk.lines[0])
            case .extended(let type):
                let isHere = declared.contains(type)
                let lines = isHere ? chunk.lines.map { Self.qualified($0, type, in: name) } : chunk.lines
                extensions.append(self.located(Chunk(kind: chunk.kind, lines: lines, line: chunk.line)))
            case .declared(let type):
                clashes = !declared.insert(type).inserted || clashes
                types.append(located)
            case .statement: statements.append(located)
            }
        }
        let function = Self.function(number, statements)
        if clashes {
            functions.append("enum Example\(number) {\n\((types + [function]).joined(separator: "\n"))\n}")
        } else {
            declarations += types
            if !statements.isEmpty { functions.append(function) }
        }
    }

    private static func function(_ number: Int, _ statements: [String]) -> String {
        """
        @MainActor static func example\(number)(\(ExamplePrelude.parameters)) async throws {
        \(ExamplePrelude.variables)
        do {
        \(statements.joined(separator: "\n"))
        }
        }
        """
    }

    private static func qualified(_ line: String, _ type: String, in namespace: String) -> String {
        line.hasPrefix("extension \(type)")
            ? line.replacing("extension \(type)", with: "extension \(namespace).\(type)") : line
    }

    private func located(_ chunk: Chunk) -> String {
        """
        #sourceLocation(file: "\(path)", line: \(chunk.line))
        \(chunk.lines.joined(separator: "\n"))
        #sourceLocation()
        """
    }

    // MARK: Parts of an example

    private struct Chunk {
        enum Kind {
            case imported
            case declared(String)
            case extended(String)
            case statement
        }

        let kind: Kind
        var lines: [String]
        let line: Int
    }

    private static func chunks(of block: CodeBlock) -> [Chunk] {
        var chunks: [Chunk] = []
        var index = 0
        while index < block.lines.count {
            let kind = kind(of: block.lines[index...])
            var end = index + 1
            switch kind {
            case .imported: break
            case .declared, .extended:
                while end < block.lines.count, !isClosed(block.lines[index..<end]) { end += 1 }
            case .statement:
                while end < block.lines.count, case .statement = Self.kind(of: block.lines[end...]) { end += 1 }
            }
            chunks.append(Chunk(kind: kind, lines: Array(block.lines[index..<end]), line: block.line + index))
            index = end
        }
        return chunks
    }

    /// Whether as many braces are closed as were opened, and at least one was.
    private static func isClosed(_ lines: ArraySlice<String>) -> Bool {
        let text = lines.joined()
        let opened = text.count { $0 == "{" }
        return opened > 0 && opened == text.count { $0 == "}" }
    }

    private static let typeWords: Set<String> = ["class", "struct", "enum", "actor", "protocol"]
    private static let modifiers: Set<String> = ["final", "public"]

    /// What begins at the first of these lines; attributes may stand on lines of their own before a type.
    private static func kind(of lines: ArraySlice<String>) -> Chunk.Kind {
        for line in lines {
            if line.hasPrefix("import ") { return .imported }
            if line.hasPrefix(" ") { return .statement }
            let declaration = afterAttributes(line)
            if declaration.isEmpty, line.hasPrefix("@") { continue }
            let words = declaration.split(whereSeparator: { " :<".contains($0) }).map(String.init)
                .drop { modifiers.contains($0) }
            guard let word = words.first, let name = words.dropFirst().first, name.first?.isUppercase ?? false else {
                return .statement
            }
            if typeWords.contains(word) { return .declared(name) }
            return word == "extension" ? .extended(name) : .statement
        }
        return .statement
    }

    /// What stands on a line behind its attributes and their arguments.
    private static func afterAttributes(_ line: String) -> Substring {
        var rest = line[...]
        while rest.first == "@" {
            rest = rest.dropFirst().drop { $0.isLetter || $0.isNumber || $0 == "_" }
            if rest.first == "(" {
                var depth = 0
                rest = rest.drop { character in
                    if character == "(" { depth += 1 }
                    if character == ")" { depth -= 1 }
                    return depth > 0
                }.dropFirst()
            }
            rest = rest.drop { $0 == " " }
        }
        return rest
    }
}
