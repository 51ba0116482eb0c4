import StrataModel

/// Converts fetch requests to and from `<fetchRequest>` elements, and fetched properties to `<fetchedProperty>`
/// elements.
enum RequestCodec {
    /// The names of options in Xcode's files, each in both spellings.
    private static let options = [
        ("includeSubentities", "includesSubentities"), ("includePropertyValues", "includesPropertyValues"),
        ("includePendingChanges", "includesPendingChanges"), ("returnObjectsAsFaults", "returnsObjectsAsFaults"),
    ]
    private static let paths: [any WritableKeyPath<FetchRequestTemplate, Bool> & Sendable] = [
        \.includesSubentities, \.includesPropertyValues, \.includesPendingChanges, \.returnsObjectsAsFaults,
    ]

    /// Reads a request from attributes.
    ///
    /// Xcode writes options that are on. If a file has no options, or only some that are off, it is older than they
    /// are, and the others have their defaults.
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

    /// The attributes that Xcode would write, as far as its format can express the description; in any order.
    static func attributes(of template: FetchRequestTemplate) -> [Attribute] {
        var list = [Attribute("name", template.name), Attribute("entity", template.entityName)]
        if let predicate = template.predicate { list.append(Attribute("predicateString", predicate.description)) }
        if template.fetchLimit > 0 { list.append(Attribute("fetchLimit", String(template.fetchLimit))) }
        if template.fetchBatchSize > 0 { list.append(Attribute("fetchBatchSize", String(template.fetchBatchSize))) }
        let values = paths.map { template[keyPath: $0] }
        if values.contains(false) {
            // Options that are off are omitted if at least one is on.
            let written = values.contains(true)
            for (value, option) in zip(values, options) where value == written {
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
