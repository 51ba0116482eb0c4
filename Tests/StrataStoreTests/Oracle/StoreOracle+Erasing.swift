import StrataModel
import StrataStore
import StrataTestSupport

extension StoreOracle {
    /// Erases an object, or one that was deleted. Past moments have it without values from then on, and its links.
    mutating func erase() throws {
        var known: Set<ObjectID> = []
        for (_, moment) in history { known.formUnion(moment.objects.keys) }
        guard let id = known.sorted().randomElement(using: &generator) else { return }
        try erase(id)
    }

    private mutating func erase(_ id: ObjectID) throws {
        _ = try fixture.store.erase(
            ErasureRequest(objects: [id], note: MaintenanceNote(author: "ann", metadata: ["why": "asked"])))
        for index in history.indices {
            guard let values = history[index].moment.objects[id] else { continue }
            history[index].moment.objects[id] = values.filter { Self.isLink($0.value) }
        }
        now.objects[id] = nil
        now.tagged[id] = nil
        for tag in now.tagged.keys { now.tagged[tag]?[id] = nil }
        for (other, values) in now.objects where values["owner"] == .objectID(id) { now.objects[other]?["owner"] = nil }
        history.append((try fixture.store.head(), now))
    }

    private static func isLink(_ value: AttributeValue) -> Bool { if case .objectID = value { true } else { false } }
}
