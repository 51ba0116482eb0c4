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
        case .data: return "\(_bytes(property.location).count) bytes"
        case .string:
            let text = String._load(self, property.location)
            return text.count > 80 ? "\(text.prefix(80).debugDescription)…" : text.debugDescription
        default: return "\(attributeValue(property))"
        }
    }
}
