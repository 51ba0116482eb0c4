import Foundation
import StrataModel

/// The value that a mapping model gives a property, in three simple forms.
///
/// The file has it as a keyed archive of an `NSExpression`. Of these, three forms are read: a property of the old object
/// (`$source.name`), a constant, and the objects that a relationship of the old object has become.
enum MappingExpression: Equatable {
    /// The property of the old object with this name: its value, or what its links lead to.
    case property(String)
    case constant(AttributeValue)
    /// Anything else, in words.
    case other(String)

    /// - Throws: `ArchiveError`.
    init(archived bytes: [UInt8]) throws(ArchiveError) {
        let archive = try KeyedArchive(bytes)
        self = Self.read(archive.root, archive)
    }

    private static func read(_ object: KeyedArchive.Index, _ archive: KeyedArchive) -> MappingExpression {
        if archive.className(of: object) == "NSConstantValueExpression" {
            guard let field = archive.field("NSConstantValue", of: object) else { return .constant(.null) }
            return archive.value(field).map(MappingExpression.constant) ?? .other("a constant of another kind")
        }
        guard let selector = archive.text(archive.field("NSSelectorName", of: object)) else {
            return .other("an expression")
        }
        let operand = archive.text(archive.field("NSVariable", of: archive.field("NSOperand", of: object)))
        let arguments = archive.members(of: archive.field("NSArguments", of: object))
        switch (operand, selector) {
        case ("source", "valueForKeyPath:"), ("source", "valueForKey:"):
            guard let first = arguments.first, let path = keyPath(first, archive) else { break }
            return path.contains(".") ? .other("$source.\(path)") : .property(path)
        case ("manager", "destinationInstancesForEntityMappingNamed:sourceInstances:"),
            ("manager", "destinationInstancesForSourceRelationshipNamed:sourceInstances:"):
            guard arguments.count == 2 else { break }
            return read(arguments[1], archive)
        default: break
        }
        return .other("the function \(selector)")
    }

    private static func keyPath(_ object: KeyedArchive.Index, _ archive: KeyedArchive) -> String? {
        archive.text(archive.field("NSKeyPath", of: object))
            ?? archive.text(archive.field("NSConstantValue", of: object)) ?? archive.text(object)
    }
}

extension KeyedArchive {
    /// A text, number or date as a value; nil for another object.
    fileprivate func value(_ object: Index) -> AttributeValue? {
        if let text = text(object) ?? text(field("NS.string", of: object)) { return .string(text) }
        if let number = integer(object) { return .integer(number) }
        if let number = real(object) { return .double(number) }
        if let seconds = real(field("NS.time", of: object)) {
            return .date(Date(timeIntervalSinceReferenceDate: seconds))
        }
        return boolean(object).map(AttributeValue.boolean)
    }
}
