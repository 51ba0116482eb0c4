import Foundation

/// The tables of options in the article on entities: each option in code, with the line that it stands on.
enum OptionTable {
    enum Kind: String { case attribute, relationship, entity }

    struct Option {
        let kind: Kind
        let text: String
        let line: Int
    }

    /// The code in the first column of each table under "## Attribute options" and so on, apart from labels such as
    /// `deleteRule:`.
    static func options(_ page: String) -> [Option] {
        var options: [Option] = []
        var kind: Kind?
        for (index, line) in page.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.hasPrefix("## ") {
                let words = line.dropFirst(3).split(separator: " ")
                kind = words.last == "options" ? words.first.flatMap { Kind(rawValue: $0.lowercased()) } : nil
            }
            guard let kind, line.hasPrefix("| `"), let cell = line.split(separator: "|").first else { continue }
            // Two marks stand around the name of a symbol.
            for match in cell.replacing(/``[^`]*``/, with: "").matches(of: /`([^`]+)`/) where !match.1.hasSuffix(":") {
                options.append(Option(kind: kind, text: String(match.1), line: index + 1))
            }
        }
        return options
    }

    /// A class for each option; its errors are reported at the line of the page.
    static func source(_ options: [Option], _ page: URL) -> String {
        let path = page.path(percentEncoded: false)
        let classes = options.enumerated().map { number, option in
            """
            #sourceLocation(file: "\(path)", line: \(option.line))
            \(declaration(of: option, named: "Case\(number)"))
            #sourceLocation()
            """
        }
        return """
            import Foundation
            import Strata

            @Entity final class Work: ManagedObject {
                var title: String
                var year: Int
                @Relationship var writer: Writer?
            }
            @Entity final class Writer: ManagedObject { @Relationship(inverse: \\Work.writer) var works: ToMany<Work> }
            let predicate: FetchPredicate = .greaterThan("year", 0)

            \(classes.joined(separator: "\n"))
            """
    }

    private static func declaration(of option: Option, named name: String) -> String {
        let text = option.text
        switch option.kind {
        case .attribute:
            return "@Entity final class \(name): ManagedObject { @Attribute(\(text)) var x: \(type(of: text)) }"
        case .relationship:
            return "@Entity final class \(name): ManagedObject { @Relationship(\(text)) var works: ToMany<Work> }"
        case .entity:
            return "@Entity(\(text)) final class \(name): ManagedObject { var title: String; var year: Int }"
        }
    }

    /// A type that the option suits.
    private static func type(of option: String) -> String {
        let types: [(String, String)] = [
            (".range", "Int"), (".check", "Int"), (".derived", "Int"), (".optional", "Int"),
            (".externalStorage", "Data?"), (".transient", "Int?"), (".transformable", "[String]?"),
        ]
        return types.first { option.hasPrefix($0.0) }?.1 ?? "String"
    }
}
