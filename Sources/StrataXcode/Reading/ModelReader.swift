import StrataModel

/// Reads a `<model>` element.
struct ModelReader {
    private let root: XMLElement
    private let diagnostics = DiagnosticList()
    private var compositeElements: [String: XMLElement] = [:]
    private var supplement = ModelSupplement()
    private var entities: [EntityDescription] = []
    private var notes: [String: [String: String]] = [:]
    private var unread: [XMLElement] = []

    /// Reads a model from the root element of its file.
    ///
    /// - Throws: `ModelFileError` if the root is not a `<model>` element.
    static func read(_ root: XMLElement, name: String) throws(ModelFileError) -> XcodeModel {
        guard root.name == "model" else {
            throw ModelFileError("the root element is <\(root.name)>; a model's is <model>", at: root.location)
        }
        var reader = ModelReader(root)
        reader.read()
        return XcodeModel(
            name: name, entities: reader.entities, supplement: reader.supplement, diagnostics: reader.diagnostics.all)
    }

    private init(_ root: XMLElement) { self.root = root }

    private mutating func read() {
        unread = diagnostics.checkNames(of: root)
        if let version = root["documentVersion"], version != "1.0" {
            diagnostics.unreadable(
                root, "documentVersion", "documentVersion is \(version); only 1.0 is known, so parts may be lost")
        }
        supplement.versionIdentifier = root["userDefinedModelVersionIdentifier"].flatMap { $0.isEmpty ? nil : $0 }
        for element in root.children(named: "composite") { compositeElements[element["name"] ?? ""] = element }
        readEntities()
        for element in root.children(named: "fetchRequest") { readRequest(element) }
        for element in root.children(named: "configuration") { readConfiguration(element) }
        readElements()
        markOpenInverses()
        supplement.editorInfo.values.merge(
            EditorNotes.difference(
                root.attributes, from: ModelCodec.attributes(supplement.versionIdentifier), of: "model"
            ).values
        ) { $1 }
        supplement.editorInfo[EditorNotes.unread] = XMLElement.carried(unread)
        readOrderOfRequests()
    }

    private mutating func readEntities() {
        let table = CompositeTable(elements: compositeElements, diagnostics: diagnostics)
        let reader = EntityReader(
            diagnostics: diagnostics, composites: { table.elements(of: $0) }, isToMany: ToManyTable(root).contains)
        for element in root.children(named: "entity") {
            let result = reader.read(element)
            entities.append(result.entity)
            notes[result.entity.name] = result.notes
            supplement.fetchedProperties += result.fetchedProperties
        }
        // A composite that no attribute uses is kept as text.
        unread += root.children(named: "composite").filter { !table.isUsed($0["name"] ?? "") }
    }

    private mutating func readRequest(_ element: XMLElement) {
        var content = UserInfoContent()
        content.notes = notes[element["entity"] ?? ""] ?? [:]
        if let template = RequestReader(diagnostics: diagnostics).read(element, content) {
            supplement.fetchRequestTemplates.append(template)
        } else {
            unread.append(element)
        }
    }

    /// Records the order of requests in the file, which can differ from that of their names.
    private mutating func readOrderOfRequests() {
        let names = supplement.fetchRequestTemplates.map(\.name)
        if names != names.sorted() {
            supplement.editorInfo[EditorNotes.requestOrder] = names.joined(separator: "\n")
        }
    }

    private mutating func readConfiguration(_ element: XMLElement) {
        let unread = diagnostics.checkNames(of: element)
        let members = element.children(named: "memberEntity").map { child in
            _ = diagnostics.checkNames(of: child)
            return child["name"] ?? ""
        }
        var configuration = ModelConfiguration(name: element["name"] ?? "", entityNames: members)
        configuration.editorInfo = EditorNotes.difference(
            element.attributes, from: [Attribute("name", configuration.name)], of: "configuration")
        configuration.editorInfo[EditorNotes.unread] = XMLElement.carried(unread)
        supplement.configurations.append(configuration)
    }

    /// Reads the coordinates at which the editor draws entities.
    private mutating func readElements() {
        guard let list = root.children(named: "elements").first else { return }
        _ = diagnostics.checkNames(of: list)
        var drawn: [String] = []
        let indexes = Dictionary(entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        for element in list.children(named: "element") {
            _ = diagnostics.checkNames(of: element)
            guard let name = element["name"], let index = indexes[name] else {
                diagnostics.unreadable(element, "name", "the editor draws an entity that the model does not have")
                continue
            }
            drawn.append(name)
            for attribute in element.attributes where attribute.name != "name" {
                entities[index].editorInfo[EditorNotes.ofForm(attribute.name)] = attribute.value
            }
        }
        if drawn != drawn.sorted() || drawn.isEmpty {
            supplement.editorInfo[EditorNotes.elementOrder] = drawn.joined(separator: "\n")
        }
    }

    /// A relationship that names no inverse has none, unless another relationship names it as its inverse.
    private mutating func markOpenInverses() {
        // The check of the model will refuse one that is too large.
        guard ModelBounds(entities).problems.isEmpty else { return }
        let hierarchy = EntityHierarchy(entities)
        var claimed: Set<EntityHierarchy.PropertyKey> = []
        for entity in entities {
            for case .relationship(let relationship) in entity.properties {
                guard let inverse = relationship.inverseName,
                    let found = hierarchy.declaration(of: inverse, in: relationship.destinationEntityName)
                else { continue }
                claimed.insert(found.key)
            }
        }
        for (position, entity) in entities.enumerated() {
            for (index, property) in entity.properties.enumerated() {
                guard case .relationship(var relationship) = property, relationship.hasNoInverse,
                    claimed.contains(.init(entityName: entity.name, name: relationship.name))
                else { continue }
                relationship.hasNoInverse = false
                entities[position].properties[index] = .relationship(relationship)
            }
        }
    }
}

/// The composites of a model, each read when an attribute uses it.
private final class CompositeTable {
    private let elements: [String: XMLElement]
    private let diagnostics: DiagnosticList
    private var known: [String: [AttributeDescription]] = [:]
    private var underWay: Set<String> = []

    init(elements: [String: XMLElement], diagnostics: DiagnosticList) {
        self.elements = elements
        self.diagnostics = diagnostics
    }

    func isUsed(_ name: String) -> Bool { known[name] != nil }

    /// The elements of a composite; nil for an unknown name, and for a composite that contains itself.
    func elements(of name: String) -> [AttributeDescription]? {
        if let known = known[name] { return known }
        guard let element = elements[name], underWay.insert(name).inserted else { return nil }
        let owner = diagnostics.owner
        defer {
            underWay.remove(name)
            diagnostics.owner = owner
        }
        diagnostics.owner = name
        _ = diagnostics.checkNames(of: element)
        let reader = EntityReader(
            diagnostics: diagnostics, composites: { self.elements(of: $0) }, isToMany: { _, _ in false })
        let parts = element.children(named: "attribute").map { reader.attribute($0, of: name) }
        known[name] = parts
        return parts
    }
}

/// The to-many relationships of a file. They must be known before the entities with their indexes are read.
private struct ToManyTable {
    private var names: [String: Set<String>] = [:]
    private var parents: [String: String] = [:]

    init(_ root: XMLElement) {
        for entity in root.children(named: "entity") {
            let name = entity["name"] ?? ""
            let toMany = entity.children(named: "relationship").filter { $0["toMany"] == "YES" }
            names[name] = Set(toMany.compactMap { $0["name"] })
            parents[name] = entity["parentEntity"]
        }
    }

    func contains(_ entityName: String, _ name: String) -> Bool {
        var seen: Set<String> = []
        var next: String? = entityName
        while let current = next, seen.insert(current).inserted {
            if names[current]?.contains(name) ?? false { return true }
            next = parents[current]
        }
        return false
    }
}
