import StrataModel

extension ManagedObject: CustomStringConvertible, CustomDebugStringConvertible {
    /// The same as `description`.
    public var debugDescription: String { description }

    /// The entity, the id, the state and the values. Nothing is read for it.
    final var stateAndValues: String {
        let head = "\(objectID.named(_entity.name)), \(stateName)"
        guard _state & (ObjectState.fault | ObjectState.probe) == 0 else { return head }
        // It was gone before its values were read.
        if life == .gone, _capacity == 0 { return head }
        var values: [String] = []
        for property in _entity.properties where property.isInRow && property.index < _entity.declaredCount {
            values.append("\(property.name): \(shownValue(of: property))")
        }
        return values.isEmpty ? head : "\(head); \(values.joined(separator: ", "))"
    }

    private final var stateName: String {
        switch life {
        case .unborn, .new: "new"
        case .fault: "a fault"
        case .clean: "unchanged"
        case .changed: isFault ? "a fault, updated" : "updated"
        case .deleted, .withdrawn: "deleted"
        case .gone: "not in the store"
        case .savedDeletion, .detached: "in no context"
        case .probe: "a key path"
        }
    }

    private final func shownValue(of property: PropertyRuntime) -> String {
        if _isNull(property.location) { return "nil" }
        if property.isToOne {
            let target = reference(property.location)
            return target.isNil ? "nil" : _context?.binding.schema.name(of: target) ?? "object \(target)"
        }
        switch property.kind {
        case .externalData, .undefined: return "…"
        case .encrypted, .externalEncrypted: return "(encrypted)"
        case .data: return property.attributeType == .transformable ? transformed(property) : size(property)
        case .string: return Self.quoted(String._load(self, property.location))
        default: return "\(attributeValue(property))"
        }
    }

    private final func size(_ property: PropertyRuntime) -> String { "\(_bytes(property.location).count) bytes" }

    /// The value of a transformable; its size if the transformer is missing or cannot read it, which reading tells.
    private final func transformed(_ property: PropertyRuntime) -> String {
        do {
            guard let value = try readTransformed(property) else { return size(property) }
            if let text = value as? String { return Self.quoted(text) }
            return Self.shortened("\(value)")
        } catch {
            return size(property)
        }
    }

    private static func quoted(_ text: String) -> String {
        text.count > mostCharacters ? "\(text.prefix(mostCharacters).debugDescription)…" : text.debugDescription
    }

    private static func shortened(_ text: String) -> String {
        text.count > mostCharacters ? "\(text.prefix(mostCharacters))…" : text
    }

    private static var mostCharacters: Int { 80 }
}
