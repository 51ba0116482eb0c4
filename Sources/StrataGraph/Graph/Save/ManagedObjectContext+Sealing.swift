import StrataModel
import StrataStore

extension ManagedObjectContext {
    /// Puts changed values under the keys of their subjects. The keys that are missing are made together.
    func sealValues() throws {
        var found: [(ManagedObject, [SubjectAttributes.Pending])] = []
        var keys: SubjectAttributes?
        for list in [pending.inserted, pending.updated] {
            for object in list where !object._flags.contains(.deleted) && !object._flags.contains(.withdrawn) {
                guard let subjects = object._entity.subjects, object.isToBeSaved else { continue }
                let values = try object.valuesToSeal(subjects, binding.store)
                if values.isEmpty { continue }
                keys = subjects
                found.append((object, values))
            }
        }
        try keys?.makeKeys(for: found.flatMap(\.1))
        for (object, values) in found {
            for value in values { try object.seal(value) }
        }
    }
}

extension ManagedObject {
    /// Whether a save writes the object's row.
    fileprivate var isToBeSaved: Bool {
        _flags.contains(.inserted) || _flags.contains(.updated) && _base != nil && baseBytes != nil
    }
}
