// Descriptions of a model and its parts, as `print` shows them.

extension ManagedObjectModel: CustomStringConvertible {
    /// The version and the names of the entities: `model "v2" of 2 entities: Movie, FamilyMember`.
    public var description: String {
        let version = versionIdentifier.map { " \($0.debugDescription)" } ?? ""
        let count = entities.count == 1 ? "1 entity" : "\(entities.count) entities"
        let names = entities.map(\.name).joined(separator: ", ")
        return "model\(version) of \(count)\(names.isEmpty ? "" : ": \(names)")"
    }
}

extension EntityDescription: CustomStringConvertible {
    /// The name, the settings that are not the defaults, and the entity's own properties, indexes and unique lists:
    /// `Movie (is a Film): title: string, required; owner: to-one Person, inverse movies, nullify; unique title`.
    public var description: String {
        var parts = properties.map(\.description) + indexes.map(\.description)
        parts += uniquenessConstraints.map { "unique \($0.joined(separator: ", "))" }
        parts += validationPredicates.map(\.description)
        if !fullText.isEmpty { parts.append("words of \(fullText.joined(separator: ", "))") }
        let head = facts.isEmpty ? name : "\(name) (\(facts.joined(separator: ", ")))"
        return parts.isEmpty ? head : "\(head): \(parts.joined(separator: "; "))"
    }
}

extension PropertyDescription: CustomStringConvertible {
    /// The attribute or the relationship.
    public var description: String {
        switch self {
        case .attribute(let attribute): "\(attribute)"
        case .relationship(let relationship): "\(relationship)"
        }
    }
}

extension AttributeDescription: CustomStringConvertible {
    /// The name, the type, the elements of a composite, and the settings that are not the defaults: `title: string,
    /// required`.
    public var description: String {
        let parts = elements.isEmpty ? "" : " (\(elements.map(\.description).joined(separator: "; ")))"
        return "\(name): \(([type.name + parts] + facts()).joined(separator: ", "))"
    }
}

extension RelationshipDescription: CustomStringConvertible {
    /// The name, where it leads, its inverse, its bounds and its delete rule: `owner: to-one Person, inverse movies,
    /// nullify`.
    public var description: String { "\(name): \(([target] + facts).joined(separator: ", "))" }
}

extension FetchedPropertyDescription: CustomStringConvertible {
    /// The name and the request: `rivals: Movie where year == $FETCH_SOURCE.year`.
    public var description: String { "\(name): \(request.summary)" }
}

extension FetchRequestTemplate: CustomStringConvertible {
    /// The name and the request: `FilmsSince: Film where year >= $YEAR, sorted by title, limit 10`.
    public var description: String { "\(name): \(summary)" }

    fileprivate var summary: String {
        var text = includesSubentities ? entityName : "\(entityName) only"
        if let predicate { text += " where \(predicate)" }
        if !sortDescriptors.isEmpty {
            text += ", sorted by \(sortDescriptors.map(\.description).joined(separator: ", "))"
        }
        return fetchLimit == 0 ? text : "\(text), limit \(fetchLimit)"
    }
}

extension ModelConfiguration: CustomStringConvertible {
    /// The name and the entities: `configuration Local: Movie, Person`.
    public var description: String { "configuration \(name): \(entityNames.joined(separator: ", "))" }
}

extension FetchIndexDescription: CustomStringConvertible {
    /// The name, the parts of the key and the condition: `index byYear: year descending, title where year > 1900`.
    public var description: String {
        "index \(name): \(elements.map(\.description).joined(separator: ", "))\(partialIndexPredicate.map { " where \($0)" } ?? "")"
    }
}

extension FetchIndexElement: CustomStringConvertible {
    /// The path, and the settings that are not the defaults: `title[c] descending`.
    public var description: String {
        SortDescription(propertyPath, isAscending: isAscending, folding: folding).description
    }
}

extension ValidationRule: CustomStringConvertible {
    /// The rule: `0…5`, `length 1…80`, `like /[a-z]+/`, or the predicate.
    public var description: String { text() }
}

extension ValidationPredicate: CustomStringConvertible {
    /// The predicate.
    public var description: String { "\(predicate)" }
}

extension AttributeEncryption: CustomStringConvertible {
    /// The encryption in words: `encrypted`, with the subject if there is one.
    public var description: String {
        switch self {
        case .storeKey: "encrypted"
        case .subjectKey(let subject): "encrypted under the key of \(subject)"
        }
    }
}

extension EncryptionSubject: CustomStringConvertible {
    /// `the object`, or the name of the property.
    public var description: String {
        switch self {
        case .object: "the object"
        case .property(let name): name
        }
    }
}

extension EditorInfo: CustomStringConvertible {
    /// The entries by name.
    public var description: String {
        values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
    }
}

extension FetchFunction: CustomStringConvertible {
    /// The name in the format language.
    public var description: String { rawValue }
}

extension ViewKeyFunction: CustomStringConvertible {
    /// The function with its value: `year(value, Europe/Berlin)` or `bucket(value, 100)`.
    public var description: String { description(of: "value") }
}

extension HistoryBaseline: CustomStringConvertible {
    /// The last transaction before the cut, its last event and its date.
    public var description: String { "transaction \(transaction), event \(eventNumber), \(date)" }
}

extension BlobReference: CustomStringConvertible {
    /// The size of the value.
    public var description: String { "\(sizeInBytes) bytes" }
}

extension EncryptedValue: CustomStringConvertible {
    /// `(encrypted)`.
    public var description: String { "(encrypted)" }
}
