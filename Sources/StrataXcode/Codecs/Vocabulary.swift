/// The names of elements and attributes in Xcode's model files: their order, and which of them Strata does not support.
enum Vocabulary {
    /// The attributes of each element in Xcode's order. Some matter only to the editor: they are kept and have no
    /// effect.
    static let attributes: [String: [String]] = [
        "model": [
            "type", "documentVersion", "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion",
            "macOSVersion", "iOSVersion", "sourceLanguage", "usedWithCloudKit", "usedWithSwiftData",
            "userDefinedModelVersionIdentifier", "name",
        ],
        "entity": [
            "name", "representedClassName", "isAbstract", "parentEntity", "elementID", "versionHashModifier",
            "syncable",
            "codeGenerationType", "coreSpotlightDisplayNameExpression",
        ],
        "attribute": [
            "name", "optional", "transient", "attributeType", "composite", "minValueString", "maxValueString",
            "minDateTimeInterval", "maxDateTimeInterval", "defaultDateTimeInterval", "defaultValueString", "derived",
            "derivationExpression", "regularExpressionString", "allowsExternalBinaryDataStorage",
            "allowsCloudEncryption",
            "storedInTruthFile", "spotlightIndexingEnabled", "usesScalarValueType", "elementID", "renamingIdentifier",
            "indexed", "preserveAfterDeletion", "preservesValueInHistoryOnDeletion", "valueTransformerName",
            "customClassName", "syncable", "versionHashModifier",
        ],
        "relationship": [
            "name", "optional", "transient", "toMany", "minCount", "maxCount", "deletionRule", "ordered",
            "destinationEntity", "inverseName", "inverseEntity", "elementID", "renamingIdentifier", "indexed",
            "spotlightIndexingEnabled", "storedInTruthFile", "syncable", "versionHashModifier",
        ],
        "fetchedProperty": ["name", "optional", "transient", "syncable"],
        "fetchRequest": [
            "name", "entity", "predicateString", "fetchLimit", "fetchBatchSize", "resultType", "includeSubentities",
            "includesSubentities", "includePropertyValues", "includesPropertyValues", "includePendingChanges",
            "includesPendingChanges", "returnObjectsAsFaults", "returnsObjectsAsFaults", "returnDistinctResults",
            "returnsDistinctResults",
        ],
        "fetchIndex": ["name", "partialIndexPredicate"],
        "fetchIndexElement": ["property", "expression", "expressionType", "type", "order"],
        "configuration": ["name", "usedWithCloudKit"],
        "memberEntity": ["name"],
        "composite": ["name"],
        "constraint": ["value"],
        "index": ["value"],
        "entry": ["key", "value"],
        "element": ["name", "positionX", "positionY", "width", "height"],
    ]

    /// The children of each element, in Xcode's order.
    static let children: [String: [String]] = [
        "model": ["entity", "composite", "fetchRequest", "configuration", "elements"],
        "entity": [
            "attribute", "relationship", "fetchedProperty", "fetchIndex", "compoundIndexes", "uniquenessConstraints",
            "userInfo",
        ],
        "attribute": ["userInfo"],
        "relationship": ["userInfo"],
        "fetchedProperty": ["fetchRequest", "userInfo"],
        "composite": ["attribute"],
        "fetchIndex": ["fetchIndexElement"],
        "configuration": ["memberEntity"],
        "uniquenessConstraints": ["uniquenessConstraint"],
        "uniquenessConstraint": ["constraint"],
        "compoundIndexes": ["compoundIndex"],
        "compoundIndex": ["index"],
        "userInfo": ["entry"],
        "elements": ["element"],
    ]

    /// The attributes of Xcode that Strata does not support, each with the reason.
    static let notSupported: [String: [String: String]] = [
        "model": ["usedWithCloudKit": "there is no CloudKit"],
        "entity": ["coreSpotlightDisplayNameExpression": "there is no Spotlight"],
        "attribute": [
            "allowsCloudEncryption": "there is no CloudKit",
            "spotlightIndexingEnabled": "there is no Spotlight",
            "storedInTruthFile": "there is no Spotlight",
        ],
        "relationship": [
            "spotlightIndexingEnabled": "there is no Spotlight", "storedInTruthFile": "there is no Spotlight",
        ],
        "fetchRequest": [
            "resultType": "a template asks for objects",
            "returnDistinctResults": "a template asks for objects, which are distinct",
            "returnsDistinctResults": "a template asks for objects, which are distinct",
        ],
        "configuration": ["usedWithCloudKit": "there is no CloudKit"],
    ]

    /// The rank of an attribute in Xcode's order; unknown names come last.
    static func rank(of attribute: String, in element: String) -> Int {
        let known = attributes[element] ?? []
        return known.firstIndex(of: attribute) ?? known.count
    }
}

extension XMLElement {
    /// The element with more children, in Xcode's order of kinds.
    func adding(_ more: [XMLElement]) -> XMLElement {
        let kinds = Vocabulary.children[name] ?? []
        var copy = self
        copy.children = (children + more).enumerated()
            .map { (kinds.firstIndex(of: $1.name) ?? kinds.count, $0, $1) }
            .sorted { ($0.0, $0.1) < ($1.0, $1.1) }
            .map(\.2)
        return copy
    }
}
