import StrataModel
import StrataStore
import StrataTestSupport

extension StoreOracle {
    /// Erases an object, or one that was deleted behind the beginning of the history. Past moments have it without values
    /// from then on, but with its links.
    mutating func erase(after cut: EventNumber) throws {
        var known: Set<ObjectID> = []
        for (eventNumber, moment) in history where eventNumber >= cut { known.formUnion(moment.objects.keys) }
        guard let id = known.sorted().randomElement(using: &generator) else { return }
        try erase(id)
    }

    private mutating func erase(_ id: ObjectID) throws {
        _ = try fixture.store.erase(
            ErasureRequest(objects: [id], note: MaintenanceNote(author: "ann", metadata: ["why": "asked"])))
        for index in history.indices {
            guard let values = history[index].moment.objects[id] else { continue }
            var left = values.filter { Self.isLink($0.value) }
            // The value that a required attribute has where there is none.
            if values["rating"] != nil { left["rating"] = .double(0) }
            history[index].moment.objects[id] = left
        }
        // The movies of an owner are deleted with it, and keep their past values.
        for gone in [id] + now.objects.filter({ $0.value["owner"] == .objectID(id) }).keys {
            now.objects[gone] = nil
            now.tagged[gone] = nil
            for tag in now.tagged.keys { now.tagged[tag]?[gone] = nil }
        }
        history.append((try fixture.store.head(), now))
    }

    private static func isLink(_ value: AttributeValue) -> Bool { if case .objectID = value { true } else { false } }
}
