import Foundation

// Converts values from the type of an old attribute to that of a new one, in a migration.

extension AttributeValue {
    /// The value converted from an old attribute to a new one; nil if it cannot be converted, or only with a loss.
    ///
    /// Numbers keep their values. Text is read and written in plain forms: decimal numbers with a point, `true` and
    /// `false`, ISO 8601 dates in UTC, UUIDs, URLs, data as UTF-8. Composites keep the elements whose names both have.
    /// Transformables are not converted.
    package func converted(from old: AttributeDescription, to new: AttributeDescription) -> AttributeValue? {
        if isNull { return .null }
        if old.type == .composite, new.type == .composite { return convertedComposite(from: old, to: new) }
        // The bytes of a transformable and plain data have the same kind but another meaning.
        if new.type == .transformable || old.type == .transformable { return old.type == new.type ? self : nil }
        let value = coerced(to: new.type) ?? convertedText(to: new.type) ?? convertedTruth(to: new.type)
        return value.flatMap { $0.fits(new) ? $0 : nil }
    }

    private func convertedComposite(
        from old: AttributeDescription, to new: AttributeDescription
    ) -> AttributeValue? {
        guard case .composite(let values) = self else { return nil }
        var result: [String: AttributeValue] = [:]
        for element in new.elements {
            let earlier = old.elements.first { $0.name == element.name }
            let value = earlier.flatMap { (values[element.name] ?? .null).converted(from: $0, to: element) }
            let filled = value.flatMap { $0.isNull ? nil : $0 } ?? element.defaultValue ?? .null
            if filled.isNull {
                // A value that could not be converted must not become nil.
                guard element.isOptional, earlier == nil || value != nil else { return nil }
            } else {
                result[element.name] = filled
            }
        }
        return .composite(result)
    }

    /// The numbers 0 and 1 as a boolean, whatever their type.
    private func convertedTruth(to type: AttributeType) -> AttributeValue? {
        guard type == .boolean, case .integer(let whole)? = coerced(to: .integer64) else { return nil }
        return AttributeValue.integer(whole).coerced(to: .boolean)
    }

    private func convertedText(to type: AttributeType) -> AttributeValue? {
        if case .string(let text) = self { return Self.read(text, as: type) }
        switch (self, type) {
        case (.boolean(let value), .string): return .string(value ? "true" : "false")
        case (.integer(let value), .string): return .string(String(value))
        case (.float(let value), .string): return .string(value.description)
        case (.double(let value), .string): return .string(value.description)
        case (.decimal(let value), .string): return value.isNaN ? nil : .string(value.description)
        case (.date(let value), .string): return Self.text(of: value).map(AttributeValue.string)
        case (.uuid(let value), .string): return .string(value.uuidString)
        case (.url(let value), .string): return .string(value.absoluteString)
        case (.data(let value), .string): return String(validating: value, as: UTF8.self).map(AttributeValue.string)
        default: return nil
        }
    }

    /// Without a fraction for whole seconds, else with every digit; nil for a date that ISO 8601 cannot write.
    private static func text(of date: Date) -> String? {
        guard DateText.isInCalendar(date) else { return nil }
        let seconds = date.timeIntervalSinceReferenceDate
        let text = seconds == seconds.rounded() ? DateText.text(date, .iso8601) : DateText.exact(date)
        return Date(iso8601Text: text) == date ? text : nil
    }

    private static func read(_ text: String, as type: AttributeType) -> AttributeValue? {
        switch type {
        case .integer16, .integer32, .integer64: return Int64(text).map(AttributeValue.integer)
        case .decimal: return Decimal(exactText: text).map(AttributeValue.decimal)
        case .double: return Double(text).map(AttributeValue.double)
        case .float: return Float(text).map(AttributeValue.float)
        case .boolean:
            switch text.lowercased() {
            case "true", "yes", "1": return .boolean(true)
            case "false", "no", "0": return .boolean(false)
            default: return nil
            }
        case .date: return Date(iso8601Text: text).map(AttributeValue.date)
        case .uuid: return UUID(uuidString: text).map(AttributeValue.uuid)
        case .uri: return URL(string: text).map(AttributeValue.url)
        case .binaryData: return .data(Data(text.utf8))
        default: return nil
        }
    }
}
