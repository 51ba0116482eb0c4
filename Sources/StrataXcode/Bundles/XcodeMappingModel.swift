public import Foundation
public import StrataModel

/// A mapping model of Core Data, as Xcode writes it (`.xcmappingmodel`): what becomes of each entity and property of an
/// older model.
///
/// ```swift
/// let mapping = try XcodeMappingModel(contentsOf: URL(filePath: "Shop 1-2.xcmappingmodel"))
/// let migration = try mapping.migration(to: model)
/// print(migration.notes, migration.rules.count)          // what Strata does not do, and the rules for what it does
/// ```
public struct XcodeMappingModel: Sendable {
    /// A mapping model in Strata's terms.
    public struct Migration: Sendable {
        /// The new model, with the former names of renamed entities and properties.
        public let model: ManagedObjectModel
        /// Values for properties that the old objects do not have.
        public let rules: [MigrationRule]
        /// Parts of the mapping model that Strata does not carry out, a sentence each: code, filters, computed values.
        public let notes: [String]
    }

    struct EntityMapping {
        let source: String?
        let destination: String?
        let policy: String?
        let filter: String?
        let hasOwnSource: Bool
        let properties: [(name: String, value: MappingExpression?)]
    }

    /// The name of the file without extension.
    public let name: String
    let entities: [EntityMapping]

    /// Reads an `.xcmappingmodel`, or the `xcmapping.xml` in it.
    ///
    /// - Throws: `invalidModelFile`, with the line and column if the file is no sound XML.
    public init(contentsOf url: URL) throws(StrataError) {
        let file = url.pathExtension == "xcmappingmodel" ? url.appending(component: "xcmapping.xml") : url
        let data = try XcodeModelBundle.data(file, limit: XMLReader.Limits().sizeInBytes)
        try self.init(contents: data, name: url.deletingPathExtension().lastPathComponent, path: file.path)
    }

    init(contents: Data, name: String, path: String? = nil) throws(StrataError) {
        self.name = name
        var limits = XMLReader.Limits()
        limits.allowsDocumentType = true
        do throws(ModelFileError) {
            entities = MappingReader(try XMLReader.read(Array(contents), limits: limits)).entities
        } catch {
            throw StrataError(
                .invalidModelFile, "The mapping model \(name), \(error)", context: .init(path: path), cause: error)
        }
        guard !entities.isEmpty else {
            throw StrataError(
                .invalidModelFile, "The mapping model \(name) maps no entity.", context: .init(path: path))
        }
    }

    /// Translates the mapping model for a migration to a model.
    ///
    /// - Parameters:
    ///   - old: the store's model; without it fewer notes can be made.
    ///   - new: the model to migrate to.
    /// - Throws: `invalidModel` if a renamed property or entity cannot have its former name.
    public func migration(
        from old: ManagedObjectModel? = nil, to new: ManagedObjectModel
    ) throws(StrataError) -> Migration {
        var plan = MappingPlan(entities, old, new)
        plan.run()
        let model = try ManagedObjectModel(entities: plan.described).adding(
            fetchRequestTemplates: Array(new.fetchRequestTemplates.values), fetchedProperties: new.fetchedProperties,
            configurations: new.configurations, versionIdentifier: new.versionIdentifier, editorInfo: new.editorInfo)
        return Migration(model: model, rules: plan.rules, notes: plan.notes)
    }
}

/// Reads the objects of `xcmapping.xml`, a store of Core Data's XML format: `XDDEVENTITYMAPPING` has the names of two
/// entities and refers to an `XDDEVATTRIBUTEMAPPING` or `XDDEVRELATIONSHIPMAPPING` for each property. Objects that no
/// mapping model refers to are left over from editing.
private struct MappingReader {
    private var objects: [String: XMLElement] = [:]
    private let all: [XMLElement]

    init(_ root: XMLElement) {
        all = root.children(named: "object")
        for object in all { objects[object["id"] ?? ""] = object }
    }

    var entities: [XcodeMappingModel.EntityMapping] {
        let models = all.filter { $0["type"]?.uppercased() == "XDDEVMAPPINGMODEL" }
        let mappings = models.flatMap { references("entitymappings", of: $0) }
        return mappings.sorted { Self.number($0) < Self.number($1) }.map(entity)
    }

    private static func number(_ object: XMLElement) -> Int {
        text("mappingnumber", of: object).flatMap { Int($0) } ?? 0
    }

    private static func text(_ name: String, of object: XMLElement) -> String? {
        let element = object.children(named: "attribute").first { $0["name"]?.lowercased() == name }
        return element.flatMap { $0.text.isEmpty ? nil : $0.text }
    }

    private func references(_ name: String, of object: XMLElement) -> [XMLElement] {
        let element = object.children(named: "relationship").first { $0["name"]?.lowercased() == name }
        return (element?["idrefs"] ?? "").split(separator: " ").compactMap { objects[String($0)] }
    }

    private static func isGenerated(_ object: XMLElement) -> Bool {
        ["1", "true", "yes"].contains(text("autogenerateexpression", of: object)?.lowercased() ?? "")
    }

    private func entity(_ object: XMLElement) -> XcodeMappingModel.EntityMapping {
        let properties = ["attributemappings", "relationshipmappings"].flatMap { references($0, of: object) }
        let filter = Self.text("sourcefilterpredicatestring", of: object)
        return XcodeMappingModel.EntityMapping(
            source: Self.text("sourcename", of: object), destination: Self.text("destinationname", of: object),
            policy: Self.text("migrationpolicyclassname", of: object),
            filter: filter?.uppercased() == "TRUEPREDICATE" ? nil : filter,
            hasOwnSource: !Self.isGenerated(object) && Self.text("sourceexpressiondata", of: object) != nil,
            properties: properties.compactMap { property in
                Self.text("name", of: property).map { ($0, Self.value(of: property)) }
            })
    }

    /// Nil for a property that is filled as Core Data fills it by itself: from that of the same name.
    private static func value(of property: XMLElement) -> MappingExpression? {
        if !isGenerated(property), let text = text("valueexpressiondata", of: property) {
            guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
                return .other("an expression that cannot be read")
            }
            do throws(ArchiveError) {
                return try MappingExpression(archived: Array(data))
            } catch {
                return .other("an expression that cannot be read: \(error.sentence)")
            }
        }
        return text("sourcekeypath", of: property).map { $0.contains(".") ? .other("$source.\($0)") : .property($0) }
    }
}

/// Turns mappings into former names, rules and notes.
private struct MappingPlan {
    private let mappings: [XcodeMappingModel.EntityMapping]
    private let old: ManagedObjectModel?
    private let new: ManagedObjectModel
    private(set) var described: [EntityDescription]
    private(set) var rules: [MigrationRule] = []
    private(set) var notes: [String] = []

    init(_ mappings: [XcodeMappingModel.EntityMapping], _ old: ManagedObjectModel?, _ new: ManagedObjectModel) {
        self.mappings = mappings
        self.old = old
        self.new = new
        described = new.entities
    }

    mutating func run() {
        for mapping in mappings {
            guard let destination = mapping.destination, let source = mapping.source else { continue }
            guard let after = described.firstIndex(where: { $0.name == destination }) else {
                notes.append("\(destination) is not in the new model.")
                continue
            }
            if let old, old.hierarchy.entity(named: source) == nil {
                notes.append("\(source) is not in the store's model.")
            }
            if let policy = mapping.policy, policy != "NSEntityMigrationPolicy" {
                notes.append("\(destination) is migrated by the code of \(policy), which is not run.")
            }
            if let filter = mapping.filter {
                notes.append("\(destination) is made only of the \(source) where \(filter).")
            }
            if mapping.hasOwnSource { notes.append("\(destination) is made of objects that an expression finds.") }
            let others = mappings.filter { $0.destination == destination && $0.source != source && $0.source != nil }
            if source != destination, others.contains(where: { $0.source == destination }) {
                notes.append("\(source) is to become \(destination) too; an entity continues one other only.")
                continue
            }
            if source != destination { described[after].renamingIdentifier = source }
            map(mapping.properties, source, destination)
        }
    }

    private mutating func map(
        _ properties: [(name: String, value: MappingExpression?)], _ source: String, _ destination: String
    ) {
        var renamed: Set<String> = []
        for (name, value) in properties {
            let subject = "\(destination).\(name)"
            guard let property = new.hierarchy.declaration(of: name, in: destination) else {
                notes.append("\(subject) is not in the new model.")
                continue
            }
            switch value {
            case nil: continue
            case .other(let words)?: notes.append("\(subject) is computed by \(words): give a rule for it.")
            case .property(name)?: continue
            case .property(let former)?:
                let isTaken = new.hierarchy.declaration(of: former, in: destination) != nil
                let isCopy = isTaken || !renamed.insert(former).inserted
                if isCopy { copy(former, to: property, subject) } else { rename(former, to: property) }
            case .constant(let value)?: set(value, property, subject, source)
            }
        }
    }

    private mutating func rename(_ former: String, to property: EntityHierarchy.Declaration) {
        guard let entity = described.firstIndex(where: { $0.name == property.entityName }),
            let index = described[entity].properties.firstIndex(where: { $0.name == property.property.name })
        else { return }
        described[entity].properties[index] = described[entity].properties[index].renamed(from: former)
    }

    /// A second property that is filled from the same one.
    private mutating func copy(_ former: String, to property: EntityHierarchy.Declaration, _ subject: String) {
        guard let attribute = property.property.attribute else {
            return notes.append("\(subject) is to have the links of \(former) too, which only code can give it.")
        }
        rules.append(
            MigrationRule(entity: property.entityName, property: attribute.name) { old in
                old[former].coerced(to: attribute.type) ?? .null
            })
    }

    private mutating func set(
        _ value: AttributeValue, _ property: EntityHierarchy.Declaration, _ subject: String, _ source: String
    ) {
        guard let attribute = property.property.attribute else {
            if !value.isNull { notes.append("\(subject) is to be a constant.") }
            return
        }
        guard !value.isNull else { return }
        guard let fitting = value.coerced(to: attribute.type), fitting.fits(attribute) else {
            return notes.append("\(subject) cannot be \(value.formatLiteral).")
        }
        rules.append(MigrationRule(entity: property.entityName, property: attribute.name, value: fitting))
        if old?.hierarchy.declaration(of: attribute.name, in: source) != nil {
            notes.append("\(subject) is to be \(value.formatLiteral) everywhere; values that fit are kept.")
        }
    }
}

extension PropertyDescription {
    fileprivate func renamed(from name: String) -> PropertyDescription {
        switch self {
        case .attribute(var attribute):
            attribute.renamingIdentifier = name
            return .attribute(attribute)
        case .relationship(var relationship):
            relationship.renamingIdentifier = name
            return .relationship(relationship)
        }
    }
}
