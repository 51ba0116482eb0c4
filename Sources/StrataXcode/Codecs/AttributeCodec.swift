import Foundation
import StrataModel

/// Converts attribute descriptions to and from `<attribute>` elements.
enum AttributeCodec {
    private static let types: [(name: String, type: AttributeType)] = [
        ("Integer 16", .integer16), ("Integer 32", .integer32), ("Integer 64", .integer64), ("Decimal", .decimal),
        ("Double", .double), ("Float", .float), ("String", .string), ("Boolean", .boolean), ("Date", .date),
        ("Binary", .binaryData), ("UUID", .uuid), ("URI", .uri), ("Transformable", .transformable),
        ("Composite", .composite),
    ]

    // MARK: Reading

    /// Reads a description from attributes, without user info and editor info.
    static func read(_ fields: ElementFields, composites: (String) -> [AttributeDescription]?) -> AttributeDescription {
        var attribute = AttributeDescription(name: fields["name"] ?? "", type: type(fields))
        attribute.isOptional = fields.flag("optional")
        attribute.isTransient = fields.flag("transient")
        attribute.allowsExternalBinaryDataStorage = fields.flag("allowsExternalBinaryDataStorage")
        attribute.preservesValueInHistoryOnDeletion =
            fields.flag("preserveAfterDeletion") || fields.flag("preservesValueInHistoryOnDeletion")
        attribute.valueTransformerName = fields["valueTransformerName"].flatMap { $0.isEmpty ? nil : $0 }
        attribute.attributeValueClassName = fields["customClassName"].flatMap { $0.isEmpty ? nil : $0 }
        attribute.renamingIdentifier = fields["elementID"] ?? fields["renamingIdentifier"]
        attribute.versionHashModifier = fields["versionHashModifier"]
        if attribute.type == .composite { readComposite(fields, composites, &attribute) }
        attribute.defaultValue = defaultValue(fields, attribute.type)
        attribute.validationRules = rules(fields, attribute.type)
        attribute.derivationExpression = derivation(fields)
        return attribute
    }

    /// The type's name in the file; nil for a type that Xcode does not have.
    static func name(of type: AttributeType) -> String? { types.first { $0.type == type }?.name }

    private static func type(_ fields: ElementFields) -> AttributeType {
        guard let name = fields["attributeType"], name != "Undefined" else { return .undefined }
        if let type = types.first(where: { $0.name == name })?.type { return type }
        fields.report("attributeType", "'\(name)' is not a type of attributes")
        return .undefined
    }

    private static func readComposite(
        _ fields: ElementFields, _ composites: (String) -> [AttributeDescription]?,
        _ attribute: inout AttributeDescription
    ) {
        guard let name = fields["composite"] else {
            return fields.report("composite", "the attribute does not say which composite it is")
        }
        attribute.attributeValueClassName = name
        if let elements = composites(name) {
            attribute.elements = elements
        } else {
            fields.report("composite", "the model has no composite '\(name)'")
        }
    }

    /// Reads a derivation. One that cannot be read becomes a text constant, which the check of the model then reports.
    private static func derivation(_ fields: ElementFields) -> FetchExpression? {
        guard let text = fields["derivationExpression"], !text.isEmpty else {
            if fields.flag("derived") { fields.report("derived", "the attribute does not say what it is derived from") }
            return nil
        }
        guard fields.flag("derived") else {
            fields.report("derivationExpression", "the attribute is not marked as derived, so it is not")
            return nil
        }
        do throws(StrataError) {
            return try FetchExpression(format: text)
        } catch {
            fields.report("derivationExpression", "the derivation cannot be read: \(error.message)")
            return .constant(.string(text))
        }
    }

    private static func defaultValue(_ fields: ElementFields, _ type: AttributeType) -> AttributeValue? {
        if type == .date {
            return bound(fields, "defaultDateTimeInterval", type) ?? bound(fields, "defaultValueString", type)
        }
        guard let text = fields["defaultValueString"] else { return nil }
        switch type {
        case .string: return .string(text)
        // Xcode writes an empty field as empty text.
        case _ where text.isEmpty: return nil
        default:
            guard type.isNumeric, value(text, type) == nil, let flag = boolean(text) else {
                return bound(fields, "defaultValueString", type)
            }
            let number = flag ? "1" : "0"
            fields.report("defaultValueString", "'\(text)' is not \(type.nameWithArticle) and is read as \(number)")
            return value(number, type)
        }
    }

    private static func rules(_ fields: ElementFields, _ type: AttributeType) -> [ValidationRule] {
        var rules: [ValidationRule] = []
        if type == .date {
            let bounds = (bound(fields, "minDateTimeInterval", type), bound(fields, "maxDateTimeInterval", type))
            if bounds.0 != nil || bounds.1 != nil { rules.append(.range(minimum: bounds.0, maximum: bounds.1)) }
        } else if [.string, .uri, .binaryData].contains(type) {
            let bounds = (length(fields, "minValueString"), length(fields, "maxValueString"))
            if bounds.0 != nil || bounds.1 != nil { rules.append(.length(minimum: bounds.0, maximum: bounds.1)) }
        } else if type.isNumeric {
            let bounds = (bound(fields, "minValueString", type), bound(fields, "maxValueString", type))
            if bounds.0 != nil || bounds.1 != nil { rules.append(.range(minimum: bounds.0, maximum: bounds.1)) }
        }
        if type == .string, let pattern = fields["regularExpressionString"], !pattern.isEmpty {
            rules.append(.pattern(pattern))
        }
        reportBounds(fields, type)
        return rules
    }

    /// Reports bounds that belong to another type. The editor keeps them, but does not show them.
    private static func reportBounds(_ fields: ElementFields, _ type: AttributeType) {
        let ofNumbers = ["minValueString", "maxValueString"]
        let ofDates = ["minDateTimeInterval", "maxDateTimeInterval", "defaultDateTimeInterval"]
        var foreign = type == .date ? ofNumbers : ofDates
        if type != .date, !type.isNumeric, ![.string, .uri, .binaryData].contains(type) { foreign += ofNumbers }
        if type != .string { foreign.append("regularExpressionString") }
        for name in foreign {
            guard let text = fields[name], !text.isEmpty else { continue }
            fields.report(name, "'\(text)' does not apply to \(type.nameWithArticle)")
        }
    }

    private static func length(_ fields: ElementFields, _ name: String) -> Int? {
        guard let text = fields[name], !text.isEmpty else { return nil }
        if let length = Int(text) { return length }
        fields.report(name, "'\(text)' is not a length")
        return nil
    }

    private static func bound(_ fields: ElementFields, _ name: String, _ type: AttributeType) -> AttributeValue? {
        guard let text = fields[name], !text.isEmpty else { return nil }
        if let value = value(text, type) { return value }
        fields.report(name, "'\(text)' is not \(type.nameWithArticle)")
        return nil
    }

    private static func value(_ text: String, _ type: AttributeType) -> AttributeValue? {
        switch type {
        case .integer16, .integer32, .integer64:
            // Xcode leaves 0.0 when the type is changed from Double to an integer.
            (Int64(text) ?? Double(text).flatMap(Int64.init(exactly:))).map(AttributeValue.integer)
        case .double: Double(text).map(AttributeValue.double)
        case .float: Float(text).map(AttributeValue.float)
        case .decimal: Decimal(exactText: text).map(AttributeValue.decimal)
        case .boolean: boolean(text).map(AttributeValue.boolean)
        case .date: Double(text).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        case .uuid: UUID(uuidString: text).map(AttributeValue.uuid)
        case .uri: URL(string: text).map(AttributeValue.url)
        default: nil
        }
    }

    private static func boolean(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "yes", "true", "1": true
        case "no", "false", "0": false
        default: nil
        }
    }

    // MARK: Writing

    /// The attributes that Xcode would write, as far as its format can express the description; in any order.
    static func attributes(of attribute: AttributeDescription, compositeName: String?) -> [Attribute] {
        var list = [Attribute("name", attribute.name)]
        func add(_ name: String, _ value: String?) {
            if let value { list.append(Attribute(name, value)) }
        }
        add("optional", attribute.isOptional ? "YES" : nil)
        add("transient", attribute.isTransient ? "YES" : nil)
        add("attributeType", name(of: attribute.type))
        add("derived", attribute.derivationExpression == nil ? nil : "YES")
        add("derivationExpression", attribute.derivationExpression?.description)
        add("allowsExternalBinaryDataStorage", attribute.allowsExternalBinaryDataStorage ? "YES" : nil)
        add("preserveAfterDeletion", attribute.preservesValueInHistoryOnDeletion ? "YES" : nil)
        add("valueTransformerName", attribute.valueTransformerName)
        if attribute.type == .composite {
            add("composite", compositeName)
        } else {
            add("customClassName", attribute.attributeValueClassName)
        }
        add("elementID", attribute.renamingIdentifier)
        add("versionHashModifier", attribute.versionHashModifier)
        let isDate = attribute.type == .date
        add(isDate ? "defaultDateTimeInterval" : "defaultValueString", attribute.defaultValue.flatMap(text))
        for rule in attribute.validationRules where list.allSatisfy({ !Self.names(of: rule).contains($0.name) }) {
            switch rule {
            case .range(let minimum, let maximum):
                add(isDate ? "minDateTimeInterval" : "minValueString", minimum.flatMap(text))
                add(isDate ? "maxDateTimeInterval" : "maxValueString", maximum.flatMap(text))
            case .length(let minimum, let maximum):
                add("minValueString", minimum.map(String.init))
                add("maxValueString", maximum.map(String.init))
            case .pattern(let pattern): add("regularExpressionString", pattern)
            case .predicate: break
            }
        }
        return list
    }

    private static func names(of rule: ValidationRule) -> [String] {
        switch rule {
        case .range: ["minValueString", "maxValueString", "minDateTimeInterval", "maxDateTimeInterval"]
        case .length: ["minValueString", "maxValueString"]
        case .pattern: ["regularExpressionString"]
        case .predicate: []
        }
    }

    private static func text(_ value: AttributeValue) -> String? {
        switch value {
        case .boolean(let value): value ? "YES" : "NO"
        case .integer(let value): String(value)
        case .float(let value): value.isFinite ? "\(value)" : nil
        case .double(let value): value.isFinite ? "\(value)" : nil
        case .decimal(let value): "\(value)"
        case .string(let text): text.unicodeScalars.allSatisfy(XMLText.isAllowed) ? text : nil
        case .date(let date): interval(date)
        case .uuid(let uuid): uuid.uuidString
        case .url(let url): url.absoluteString
        case .null, .data, .blob, .objectID, .composite, .encrypted: nil
        }
    }

    /// A date in seconds since 2001, without a fraction if they are whole.
    private static func interval(_ date: Date) -> String? {
        let seconds = date.timeIntervalSinceReferenceDate
        guard seconds.isFinite else { return nil }
        return Int64(exactly: seconds).map(String.init) ?? "\(seconds)"
    }

    /// The element without notes and editor info.
    static func plainElement(of attribute: AttributeDescription, compositeName: String?) -> XMLElement {
        XMLElement(
            "attribute", attributes(of: attribute, compositeName: compositeName),
            children: [UserInfoContent(values: attribute.userInfo).element].compactMap(\.self))
    }
}
