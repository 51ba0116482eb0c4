import StrataModel

/// Writes a model as the `contents` file of an `.xcdatamodel`.
enum ModelWriter {

    /// The text of the file.
    ///
    /// - Throws: `invalidModel` if the model has a value that neither XML nor JSON can express.
    static func text(of model: ManagedObjectModel) throws(StrataError) -> String {
        let ending = model.editorInfo[EditorNotes.newline] == nil ? "" : "\n"
        return XMLText.declaration + "\n" + XMLText.of(try element(of: model)) + ending
    }

    private static func element(of model: ManagedObjectModel) throws(StrataError) -> XMLElement {
        let composites = CompositeNames(model.entities)
        let writer = EntityWriter(composites: composites, hierarchy: model.hierarchy)
        var notes: [String: [String: String]] = [:]
        var requests: [XMLElement] = []
        for template in orderedTemplates(of: model) {
            let result = try RequestWriter.write(template)
            requests.append(result.element)
            notes[template.entityName, default: [:]][UserInfoContent.fetchRequest + template.name] = result.note
        }
        var children: [XMLElement] = []
        for entity in model.entities {
            let fetched = model.fetchedProperties.filter { $0.entityName == entity.name }
            children.append(try writer.element(of: entity, fetched, notes: notes[entity.name] ?? [:]))
        }
        children += try compositeElements(composites) + requests + model.configurations.map(element)
        children += [elements(of: model)].compactMap(\.self)
        let canonical = ModelCodec.attributes(model.versionIdentifier)
        let written = EditorNotes.apply(model.editorInfo, to: canonical, of: "model") {
            ElementFields($0)["userDefinedModelVersionIdentifier"] ?? "" == model.versionIdentifier ?? ""
        }
        return XMLElement("model", written, children: children)
            .adding(XMLElement.carried(model.editorInfo[EditorNotes.unread]))
    }

    private static func orderedTemplates(of model: ManagedObjectModel) -> [FetchRequestTemplate] {
        let templates = model.fetchRequestTemplates
        let order = (model.editorInfo[EditorNotes.requestOrder] ?? "").split(separator: "\n").map(String.init)
        let rest = templates.keys.filter { !order.contains($0) }.sorted()
        return (order + rest).compactMap { templates[$0] }
    }

    private static func compositeElements(_ composites: CompositeNames) throws(StrataError) -> [XMLElement] {
        let writer = PropertyWriter(composites: composites)
        var elements: [XMLElement] = []
        for (name, attributes) in composites.byName.sorted(by: { $0.key < $1.key }) {
            var children: [XMLElement] = []
            for attribute in attributes { children.append(try writer.element(of: attribute, owner: name)) }
            elements.append(XMLElement("composite", [Attribute("name", name)], children: children))
        }
        return elements
    }

    private static func element(of configuration: ModelConfiguration) -> XMLElement {
        let written = EditorNotes.apply(
            configuration.editorInfo, to: [Attribute("name", configuration.name)], of: "configuration"
        ) { ElementFields($0)["name"] == configuration.name }
        return XMLElement(
            "configuration", written,
            children: configuration.entityNames.map { XMLElement("memberEntity", [Attribute("name", $0)]) }
                + XMLElement.carried(configuration.editorInfo[EditorNotes.unread]))
    }

    /// The coordinates at which the editor draws entities; nil if it has drawn none.
    private static func elements(of model: ManagedObjectModel) -> XMLElement? {
        let names = ["positionX", "positionY", "width", "height"]
        let drawn = model.entities.filter { entity in
            names.contains { entity.editorInfo[EditorNotes.ofForm($0)] != nil }
        }
        let order = model.editorInfo[EditorNotes.elementOrder]?.split(separator: "\n").map(String.init)
        guard !drawn.isEmpty || order != nil else { return nil }
        let ranks = Dictionary(zip(order ?? [], (order ?? []).indices), uniquingKeysWith: { first, _ in first })
        let sorted = drawn.sorted {
            (ranks[$0.name] ?? ranks.count, $0.name) < (ranks[$1.name] ?? ranks.count, $1.name)
        }
        return XMLElement(
            "elements",
            children: sorted.map { entity in
                XMLElement(
                    "element",
                    [Attribute("name", entity.name)]
                        + names.compactMap { name in
                            entity.editorInfo[EditorNotes.ofForm(name)].map { Attribute(name, $0) }
                        })
            })
    }
}
