import StrataModel

/// Reads the file `elements`, in which Xcode kept a model before version 4, as the element `<model>` that Xcode writes
/// today.
///
/// The file is a keyed archive of UML: `XDPMModel` has a package, the package `XDPMEntity` objects, an entity
/// `XDPMAttribute` and `XDPMRelationship` objects. What Core Data adds to UML is in stereotypes, which are lists of
/// named properties with values (`XD_PAttK_attributeType`, `XD_PRK_deleteRule`). Where entities are drawn is in a second
/// file, `layout`, which is not read.
struct ElementsReader {
    private let archive: KeyedArchive
    private let diagnostics = DiagnosticList()

    /// - Returns: the element, and notes about parts of the file that are left out.
    static func read(_ bytes: [UInt8]) throws(ArchiveError) -> (model: XMLElement, diagnostics: [XcodeDiagnostic]) {
        let archive = try KeyedArchive(bytes)
        guard archive.className(of: archive.root) == "XDPMModel" else {
            throw ArchiveError("it is an archive, but not of a model")
        }
        let reader = ElementsReader(archive: archive)
        return (reader.model(), reader.diagnostics.all)
    }

    private func model() -> XMLElement {
        let package = archive.field("_xd_rootPackage", of: archive.root)
        let entities = archive.entries(of: archive.field("XDBucketForClassesstorage", of: package))
            .sorted { $0.key < $1.key }.map { entity($0.value) }
        let version = archive.text(archive.field("_modelVersionIdentifier", of: archive.root))
        let configurations = archive.entries(of: archive.field("_configurationsByName", of: archive.root))
            .sorted { $0.key < $1.key }.map { configuration($0.key, archive.members(of: $0.value)) }
        return XMLElement("model", ModelCodec.attributes(version), children: entities + configurations)
    }

    private func configuration(_ name: String, _ members: [KeyedArchive.Index]) -> XMLElement {
        let names = members.compactMap { archive.text($0) ?? self.name(of: $0) }
        return XMLElement(
            "configuration", [Attribute("name", name)],
            children: names.map { XMLElement("memberEntity", [Attribute("name", $0)]) })
    }

    private func name(of object: KeyedArchive.Index?) -> String? { archive.text(archive.field("_name", of: object)) }

    /// The values in an object's stereotypes.
    private func values(of object: KeyedArchive.Index) -> Values {
        var values: [String: KeyedArchive.Index] = [:]
        for (_, stereotype) in archive.entries(of: archive.field("XDBucketForStereotypesstorage", of: object)) {
            let owned = archive.field("XDBucketForOwnedAttributesstorage", of: stereotype)
            for (name, property) in archive.entries(of: owned) {
                values[name] = archive.field("_default", of: property)
            }
        }
        return Values(archive: archive, values: values)
    }

    private struct Values {
        let archive: KeyedArchive
        let values: [String: KeyedArchive.Index]

        func text(_ name: String) -> String? { archive.text(values[name]) }
        func flag(_ name: String) -> String? { archive.isTrue(values[name]) ? "YES" : nil }
        func integer(_ name: String) -> Int64? { archive.integer(values[name]) }
        /// nil also for zero, which means that there is no bound.
        func bound(_ name: String) -> String? { integer(name).flatMap { $0 > 0 ? String($0) : nil } }
    }

    private static func element(
        _ name: String, _ attributes: [(String, String?)], _ children: [XMLElement]
    ) -> XMLElement {
        XMLElement(name, attributes.compactMap { name, value in value.map { Attribute(name, $0) } }, children: children)
    }

    // MARK: Entities and properties

    private func entity(_ object: KeyedArchive.Index) -> XMLElement {
        let values = values(of: object)
        let name = name(of: object) ?? ""
        diagnostics.owner = name
        defer { diagnostics.owner = nil }
        for (key, what) in [
            ("XD_PSK_fetchRequestsArray", "fetch requests"), ("XDPMCompoundIndexes", "compound indexes"),
            ("XDPMUniquenessConstraints", "uniqueness constraints"),
        ] where !archive.members(of: values.values[key]).isEmpty {
            leaveOut("\(what) of files from before Xcode 4 cannot be read and are left out")
        }
        let parent = archive.members(of: archive.field("XDBucketForGeneralizationsstorage", of: object)).first
        let properties = archive.entries(of: archive.field("XDBucketForOwnedAttributesstorage", of: object))
            .sorted { $0.key < $1.key }.compactMap { property($0.value, $0.key, of: name) }
        return Self.element(
            "entity",
            [
                ("name", name), ("representedClassName", values.text("XD_PSK_entityClassName")),
                ("isAbstract", values.flag("XD_PSK_isAbstract")),
                ("parentEntity", self.name(of: archive.field("_general", of: parent))),
                ("elementID", values.text("XD_PSK_elementID")),
                ("versionHashModifier", values.text("XD_PSK_versionHashModifier")),
            ],
            properties.filter { $0.name == "attribute" } + properties.filter { $0.name == "relationship" }
                + userInfo(values.values["XD_PSK_userInfo"]))
    }

    private func property(_ object: KeyedArchive.Index, _ name: String, of entityName: String) -> XMLElement? {
        let values = values(of: object)
        diagnostics.owner = "\(entityName).\(name)"
        defer { diagnostics.owner = entityName }
        let common: [(String, String?)] = [
            ("name", name), ("optional", values.flag("XD_PPSK_isOptional")),
            ("transient", values.flag("XD_PPSK_isTransient")), ("indexed", values.flag("XD_PPSK_isIndexed")),
            ("spotlightIndexingEnabled", values.flag("XD_PPSK_isSpotlightIndexed")),
            ("storedInTruthFile", values.flag("XD_PPSK_isStoredInTruthFile")),
            ("elementID", values.text("XD_PPSK_elementID")),
            ("versionHashModifier", values.text("XD_PPSK_versionHashModifier")),
        ]
        let info = userInfo(values.values["XD_PPSK_userInfo"])
        switch archive.className(of: object) {
        case "XDPMAttribute": return Self.element("attribute", common + attributeFields(values), info)
        case "XDPMRelationship": return Self.element("relationship", common + relationshipFields(values), info)
        case let other:
            leaveOut("a property of the class \(other ?? "?") cannot be read and is left out")
            return nil
        }
    }

    private func attributeFields(_ values: Values) -> [(String, String?)] {
        let number = values.integer("XD_PAttK_attributeType") ?? 0
        let type = UInt16(exactly: number).flatMap(AttributeType.init(rawValue:)) ?? .undefined
        let isDate = type == .date
        return [
            ("attributeType", type == .undefined && number != 0 ? String(number) : AttributeCodec.name(of: type)),
            (isDate ? "defaultDateTimeInterval" : "defaultValueString", values.text("XD_PAttK_defaultValueAsString")),
            (isDate ? "minDateTimeInterval" : "minValueString", values.text("XD_PAttK_minValueString")),
            (isDate ? "maxDateTimeInterval" : "maxValueString", values.text("XD_PAttK_maxValueString")),
            ("regularExpressionString", values.text("XD_PAttK_regularExpressionString")),
            ("valueTransformerName", values.text("XD_PAttK_valueTransformerName")),
            ("allowsExternalBinaryDataStorage", values.flag("XD_PAttK_allowsExternalBinaryDataStorage")),
        ]
    }

    private func relationshipFields(_ values: Values) -> [(String, String?)] {
        let destination = name(of: values.values["XD_PRK_destination"])
        let inverse = name(of: values.values["XD_PRK_inverseRelationship"])
        let rule = values.integer("XD_PRK_deleteRule").map { number in
            UInt8(exactly: number).flatMap(DeleteRule.init(rawValue:)).flatMap(RelationshipCodec.name) ?? String(number)
        }
        return [
            ("toMany", values.flag("XD_PRK_isToMany")), ("minCount", values.bound("XD_PRK_minCount")),
            ("maxCount", values.bound("XD_PRK_maxCount")), ("deletionRule", rule),
            ("ordered", values.flag("XD_PRK_ordered")), ("destinationEntity", destination), ("inverseName", inverse),
            ("inverseEntity", inverse == nil ? nil : destination),
        ]
    }

    private func userInfo(_ object: KeyedArchive.Index?) -> [XMLElement] {
        // Sync Services, which no longer exist, kept their settings there.
        let entries = archive.entries(of: object).filter { !$0.key.hasPrefix("com.apple.syncservices.") }
            .sorted { $0.key < $1.key }
        let texts = entries.compactMap { key, value in archive.text(value).map { (key, $0) } }
        if texts.count < entries.count { leaveOut("user info with values that are not text is left out") }
        if texts.isEmpty { return [] }
        return [
            XMLElement(
                "userInfo",
                children: texts.map { XMLElement("entry", [Attribute("key", $0), Attribute("value", $1)]) })
        ]
    }

    private func leaveOut(_ sentence: String) { diagnostics.add(.unreadable, XMLElement("elements"), nil, sentence) }
}
