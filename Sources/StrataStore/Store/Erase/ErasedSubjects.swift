import LMDB
import Logging
import StrataModel

// The keys of erased objects that are subjects of encrypted values. They are destroyed after the first commit of the
// erasure, which notes them: if it cannot be made, as on a full disk, no key is gone; and if the process is killed behind
// it, the next opening with the keys destroys them.

extension Store {
    /// The subjects whose keys an erasure destroys: objects that are erased whole and that a model has made subjects.
    ///
    /// - Throws: `encryptionKeyMissing` if there are some and the store was opened without its key or without keys of
    ///   subjects.
    func subjects(of request: ErasureRequest) throws -> [SubjectID] {
        guard request.attributes == nil, request.properties.isEmpty else { return [] }
        let objects = try subjects(among: request.objects)
        guard !objects.isEmpty, try !encryptionKeyIDs().isEmpty else { return [] }
        guard keyRing.hasSubjectKeys, keyRing.namesSubjects else {
            if request.isFromList { return [] }
            throw StrataError(
                .encryptionKeyMissing,
                "Values are encrypted under keys of the objects that are to be erased, and an erasure destroys these keys; "
                    + "open the store with its key and the keys of subjects.",
                context: .init(objectID: objects.first, path: path))
        }
        return try objects.map { id throws(StrataError) in try keyRing.subjectID(of: .objectID(id)) }
    }

    /// The objects of entities that are subjects in any model of the store.
    private func subjects(among ids: [ObjectID]) throws -> [ObjectID] {
        let entities = try file.read { _, _, histories in
            var entities: Set<EntityID> = []
            for schema in try histories.schemas { schema.addSubjects(to: &entities) }
            return entities
        }
        return ids.filter { entities.contains($0.entityID) }
    }
}

extension ErasureFinish {
    /// Destroys the keys that the first commit of an erasure has noted.
    ///
    /// - Returns: why they are still there; nil if they are not.
    func destroyKeys(_ report: inout ErasureReport) throws -> String? {
        let mark = try file.environment.read { try ErasureMark.read($0, file.tables) }
        guard let subjects = mark?.subjects, !subjects.isEmpty else { return nil }
        let ring = file.keyRing
        guard ring.hasSubjectKeys else { return "the store is open without the keys of subjects, which are to go" }
        do {
            let keys = try ring.subjectKeyCounts(subjects)
            try ring.destroySubjectKeys(subjects)
            report.destroyedKeyCount += keys.there
            report.missingKeyCount += keys.missing
        } catch {
            StoreLogger.shared.warning("keys of erased subjects could not be destroyed: \(error)")
            return "the keys of subjects could not be destroyed: \(error)"
        }
        try file.write { transaction in
            guard var mark = try ErasureMark.read(transaction, file.tables) else { return }
            mark.subjects = []
            try mark.write(transaction, file.tables)
        }
        return nil
    }
}

extension Schema {
    /// Adds the entities whose objects are subjects.
    fileprivate func addSubjects(to found: inout Set<EntityID>) {
        for entity in entities {
            for property in entity.properties {
                switch property.attribute?.encryption?.subject {
                case .object?: found.formUnion(entity.entityIDs)
                case .property(let name)?:
                    guard let relationship = entity.property(named: name)?.relationship else { continue }
                    found.formUnion(self.entity(relationship.destination)?.entityIDs ?? [])
                case nil: continue
                }
            }
        }
    }
}
