import StrataModel

/// Fetch requests as the attributes of a `<fetchRequest>` element, both ways.
enum RequestCodec {
    /// Xcode writes both forms of these names.
    private static let options = [
        ("includeSubentities", "includesSubentities"), ("includePropertyValues", "includesPropertyValues"),
        ("includePendingChanges", "includesPendingChanges"), ("returnObjectsAsFaults", "returnsObjectsAsFaults"),
    ]
    private static let paths: [any WritableKeyPath<FetchRequestTemplate, Bool> & Sendable] = [
        \.includesSubentities, \.includesPropertyValues, \.includesPendingChanges, \.returnsObjectsAsFaults,
    ]

    /// Options are written when they are on. A file that has none of them is older than they are, and means what
    /// a request does by itself; so does one that only says which are off, of the others.
    static func read(_ fields: ElementFields) -> FetchRequestTemplate {
        var template = FetchRequestTemplate(name: fields["name"] ?? "", entityName: fields["entity"] ?? "")
        template.predicate = predicate(fields, "predicateString")
        template.fetchLimit = fields.count("fetchLimit")
        template.fetchBatchSize = fields.count("fetchBatchSize")
        let values = options.map { fields.flag($0.0) || fields.flag($0.1) }
        let isSaid = options.map { fields[$0.0] != nil || fields[$0.1] != nil }
        for (index, path) in paths.enumerated() where isSaid[index] || values.contains(true) {
            template[keyPath: path] = values[index]
        }
        return template
    }

    static func predicate(_ fields: ElementFields, _ name: String) -> FetchPredicate? {
        guard let text = fields[name], !text.isEmpty else { return nil }
        do throws(StrataError) {
            return try FetchPredicate(formatWithPlaceholders: text)
        } catch {
            fields.report(name, "the predicate cannot be read: \(error.message)")
            return nil
        }
    }

    /// What Xcode would write for it, as far as there are words for it; in any order.
    static func attributes(of template: FetchRequestTemplate) -> [Attribute] {
        var list = [Attribute("name", template.name), Attribute("entity", template.entityName)]
        if let predicate = template.predicate { list.append(Attribute("predicateString", predicate.description)) }
        if template.fetchLimit > 0 { list.append(Attribute("fetchLimit", String(template.fetchLimit))) }
        if template.fetchBatchSize > 0 { list.append(Attribute("fetchBatchSize", String(template.fetchBatchSize))) }
        let values = paths.map { template[keyPath: $0] }
        if values.contains(false) {
            // What is off is left out, where something says that any of them are meant.
            let told = values.contains(true)
            for (value, option) in zip(values, options) where value == told {
                list.append(Attribute(option.0, value ? "YES" : "NO"))
            }
        }
        return list
    }

    static func plainElement(of template: FetchRequestTemplate) -> XMLElement {
        XMLElement("fetchRequest", attributes(of: template))
    }

    // MARK: Fetched properties

    static func attributes(of property: FetchedPropertyDescription) -> [Attribute] {
        [Attribute("name", property.name)] + (property.isOptional ? [Attribute("optional", "YES")] : [])
    }

    static func plainElement(of property: FetchedPropertyDescription) -> XMLElement {
        XMLElement(
            "fetchedProperty", attributes(of: property),
            children: [plainElement(of: property.request), UserInfoContent(values: property.userInfo).element]
                .compactMap(\.self))
    }
}
