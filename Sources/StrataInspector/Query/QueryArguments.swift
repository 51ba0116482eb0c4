import ArgumentParser
import Foundation
import StrataModel
import StrataStore

/// The arguments that choose objects: an entity, a condition, and a moment.
struct QueryArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The entity; objects of subentities are included.", valueName: "entity"),
        completion: .entityNames)
    var entity: String
    @OptionGroup var condition: ConditionArguments
    @Flag(name: [.customLong("only")], help: "Leave out objects of subentities.") var isExact = false
    @Option(help: ArgumentHelp("Query the state of this moment.", valueName: "moment")) var at: String?

    init() {}

    /// - Throws: `UsageError`, `AbsentProperty`; `invalidRequest` with the location of an error in the format.
    func request(_ moment: StoreMoment, in store: Store) throws -> StoreRequest {
        let entity = try moment.entity(named: entity)
        return StoreRequest(
            entityID: entity.id, includesSubentities: !isExact,
            predicate: try condition.predicate(of: entity, at: moment, in: store))
    }
}

/// The arguments that say which objects of an entity are meant.
struct ConditionArguments: ParsableArguments {
    @Option(
        name: [.customLong("where")], parsing: .unconditional,
        help: ArgumentHelp(
            "Only objects that meet this: 'rating > 4 AND name CONTAINS[cd] \"al\"'.", valueName: "format"),
        completion: .keyPaths)
    var text: String?
    @Option(
        name: [.customLong("argument")], parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "The value of the next %@ or %K in --where: Drawer/p3, a number, a date, or text. One pair of quotes around "
                + "it makes it text. Can be repeated.",
            valueName: "value"))
    var arguments: [String] = []

    init() {}

    func predicate(in store: Store) throws -> FetchPredicate? {
        try ConditionText.predicate(text, arguments, in: store)
    }

    /// The condition on objects of the entity, in the names of the moment.
    ///
    /// - Throws: `UsageError`, `AbsentProperty`; `invalidRequest` with the location of an error in the format.
    func predicate(of entity: EntitySchema, at moment: StoreMoment, in store: Store) throws -> FetchPredicate? {
        guard let written = try predicate(in: store) else { return nil }
        return try ObjectComparison.checked(
            moment.propertyNames.predicate(written, of: entity), entity, moment.schema)
    }
}

/// Reads conditions and their arguments.
enum ConditionText {
    static func predicate(_ text: String?, _ arguments: [String] = [], in store: Store) throws -> FetchPredicate? {
        guard let text else {
            guard arguments.isEmpty else { throw UsageError("--argument needs a --where.") }
            return nil
        }
        if let object = ObjectComparison.literal(in: text, store.schema) {
            throw UsageError(
                "A condition names an object by an argument: write %@ in place of \(object), and --argument \(object).")
        }
        return try FetchPredicate(format: text, argumentArray: try arguments.map { try argument($0, in: store) })
    }

    /// Reads an argument as an object of this store, a number, a date, or text. Quotes make it text.
    private static func argument(_ text: String, in store: Store) throws -> any FetchArgument {
        if text.count > 1, let quote = text.first, quote == "'" || quote == "\"", text.last == quote {
            return String(text.dropFirst().dropLast())
        }
        if let number = Int64(text) { return number }
        if let number = Double(text) { return number }
        if let date = Date(iso8601Text: text) { return date }
        let entity = text.split(separator: "/").first.map(String.init) ?? text
        if text.hasPrefix("strata://") || store.schema.entity(named: entity) != nil, text.contains("/") {
            return try ObjectReference.parse(text, in: store)
        }
        return text
    }
}

/// Reads sort orders: `name,-rating`.
enum SortText {
    /// - Parameter isOfGroups: whether `count` means the number of objects of a group.
    static func parse(_ text: String?, isOfGroups: Bool = false) throws -> [SortDescription] {
        try ListText.parts(text ?? "").map { part in
            let isDescending = part.hasPrefix("-")
            let path = isDescending || part.hasPrefix("+") ? String(part.dropFirst()) : part
            guard !path.isEmpty else { throw UsageError("--sort has an empty key.") }
            if let name = ListText.inside(quotes: path) { return SortDescription(name, isAscending: !isDescending) }
            let words = path.split(separator: " ").map(String.init)
            if words.count == 2, let order = words.last?.lowercased(), ["asc", "desc"].contains(order) {
                let key = order == "desc" ? "-\(words[0])" : words[0]
                throw UsageError("--sort has no '\(words[1])'; write \(key). A - before a key sorts it descending.")
            }
            let key = isOfGroups && path == "count" ? "\(ColumnText.count.expression)" : path
            return SortDescription(key, isAscending: !isDescending)
        }
    }
}

/// Reads the columns of a result: key paths and expressions of the format language, with names after `AS`.
enum ColumnText {
    static func parse(_ text: String, of entity: EntitySchema) throws -> [OutputColumn] {
        let columns = try ListText.parts(text).map { try column($0, of: entity) }
        guard !columns.isEmpty else { throw UsageError("--columns is empty.") }
        return columns
    }

    /// The columns in the names of the moment.
    ///
    /// - Throws: `UsageError`, `AbsentProperty`.
    static func parse(_ text: String, of entity: EntitySchema, at moment: StoreMoment) throws -> [OutputColumn] {
        let names = try moment.propertyNames
        return try parse(text, of: entity).map { try names.column($0, of: entity) }
    }

    private static func column(_ text: String, of entity: EntitySchema) throws -> OutputColumn {
        let (expression, name) = try ListText.alias(text)
        for column in [object, count] where column.name == expression && entity.property(named: expression) == nil {
            return OutputColumn(name ?? column.name, column.expression)
        }
        do {
            return OutputColumn(name ?? text, try FetchExpression(format: expression))
        } catch {
            throw UsageError("--columns: \(error.commandLineText)")
        }
    }

    static let object = OutputColumn("object", .evaluatedObject)
    static let count = OutputColumn("count", .function(.count, [.evaluatedObject]))

    /// The default: the object, its attributes and its to-ones, in the order of the model.
    static func usual(of entity: EntitySchema) -> [OutputColumn] {
        [object] + entity.properties.filter { $0.isVisibleInRow }.map { OutputColumn($0.name) }
    }
}

extension PropertySchema {
    /// Whether the model declares the property and its value is in the row.
    var isVisibleInRow: Bool { storage != nil && storage != .position }
}
