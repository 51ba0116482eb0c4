import Foundation
import StrataGraph
import StrataModel
import StrataStore

/// Reads values for properties from the command line: `name=Red`, `drawer=Drawer/p3`, `drawer.label=top`.
struct Assignments {
    static let help = """
        Values are written property=value. A to-one takes an object, drawer=Drawer/p3, or an attribute that only this \
        object has, drawer.label=top; a to-many takes several, separated by commas. Dates are ISO 8601 or seconds since \
        1970, booleans yes or no, data is base64 or @FILE, a composite is a JSON object. --nil PROPERTY sets nil.
        """

    private let list: [(path: String, text: String)]
    private let nils: [String]
    /// Whether `@FILE` stands for the contents of a file.
    private let readsFiles: Bool

    /// - Throws: `UsageError` for a word without `=`.
    init(_ words: [String], nils: [String]) throws {
        list = try words.map { word in
            guard let sign = word.firstIndex(of: "="), sign > word.startIndex else {
                throw UsageError("'\(word)' is not an assignment. Write property=value.")
            }
            return (String(word[..<sign]), String(word[word.index(after: sign)...]))
        }
        self.nils = nils
        readsFiles = true
    }

    /// Texts of properties that are separate already.
    init(_ list: [(path: String, text: String)], nils: [String], readsFiles: Bool) {
        self.list = list
        self.nils = nils
        self.readsFiles = readsFiles
    }

    var isEmpty: Bool { list.isEmpty && nils.isEmpty }

    /// Sets the values on the object.
    func apply(to object: ManagedObject, _ finder: ObjectFinder) throws {
        guard let entity = finder.store.schema.entity(named: object.entity.name) else { return }
        try refuseTwice(entity)
        for name in nils { try object.setValue(nil, forKey: try property(name, entity).name) }
        for (path, text) in list { try set(path, text, object, entity, finder) }
    }

    /// Refuses two values for one property.
    private func refuseTwice(_ entity: EntitySchema) throws {
        var seen: Set<String> = []
        for path in nils + list.map(\.path) {
            let name = try property(path.split(separator: ".", maxSplits: 1).first.map(String.init) ?? path, entity)
                .name
            guard seen.insert(name).inserted else { throw UsageError("\(name) is given twice.") }
        }
    }

    private func set(
        _ path: String, _ text: String, _ object: ManagedObject, _ entity: EntitySchema, _ finder: ObjectFinder
    ) throws {
        let parts = path.split(separator: ".", maxSplits: 1).map(String.init)
        let property = try property(parts[0], entity)
        if let relationship = property.relationship {
            let key = parts.count > 1 ? parts[1] : nil
            let words = relationship.isToMany ? ListText.parts(text) : [text]
            let targets = try words.map { word in
                try finder.object(.text(word), by: key, in: relationship.destination, path)
            }
            let objects = try targets.map { try finder.context.existingObject(with: $0) }
            try object.setValue(relationship.isToMany ? objects : objects.first, forKey: property.name)
        } else if let attribute = property.attribute, parts.count == 1 {
            let input = try input(text, attribute)
            do {
                let value = try finder.input.value(input, for: attribute)
                try object.setValue(value.isNull ? nil : value, forKey: property.name)
            } catch let error as InputError {
                throw UsageError("\(path): \(error.message)")
            }
        } else {
            throw UsageError("\(path): \(parts[0]) is not a relationship.")
        }
    }

    private func property(_ name: String, _ entity: EntitySchema) throws -> PropertySchema {
        if let property = entity.property(named: name), property.storage != .position { return property }
        let known = NameSuggestions(entity.properties.filter { $0.storage != .position }.map(\.name))
        throw UsageError("\(entity.name) has no property '\(name)'.\(known.hint(for: name))")
    }

    /// Reads the value of an attribute; for a data attribute, `@FILE` means the contents of the file.
    private func input(_ text: String, _ attribute: AttributeDescription) throws -> InputValue {
        guard readsFiles, [.binaryData, .transformable].contains(attribute.type), text.hasPrefix("@") else {
            return .text(text)
        }
        let path = String(text.dropFirst())
        do {
            return .data(try Data(contentsOf: URL(filePath: path)))
        } catch {
            throw UsageError("\(path) cannot be read: \(error.systemReason)")
        }
    }
}
