// Descriptions of contexts, as `print` shows them.

import StrataModel

extension ManagedObjectContext: CustomStringConvertible {
    /// The name, the state that it shows, and the number of unsaved changes: `context "import" at event 34; 1 new, 2
    /// updated`.
    ///
    /// Makes no object and reads nothing.
    public var description: String {
        var text = parent == nil ? "context" : isScratch ? "scratch context" : "child context"
        if let name { text += " \(name.debugDescription)" }
        text += " at event \(eventNumber)"
        if isPast { text += " of the past" }
        let counts = CountText.of([
            (insertedObjects.count, "new"), (updatedObjects.count, "updated"), (deletedObjectIDs.count, "deleted"),
        ])
        return counts.isEmpty ? text : "\(text); \(counts)"
    }
}

extension ContextChanges: CustomStringConvertible {
    /// The event and the numbers of objects: `didSave at event 34; 1 inserted, 2 updated`. Makes no object.
    public var description: String {
        let counts = CountText.of([
            (insertedObjectIDs.count, "inserted"), (updatedObjectIDs.count, "updated"),
            (deletedObjectIDs.count, "deleted"), (refreshedObjectIDs.count, "refreshed"),
            (invalidatedObjectIDs.count, "invalidated"),
        ])
        return "\(event) at event \(eventNumber)\(counts.isEmpty ? "" : "; ")\(counts)"
    }
}

extension Speculation: CustomStringConvertible {
    /// The context of the changes, and whether they are kept or dropped already.
    public var description: String { isOver ? "what-if that is over" : "what-if in \(context)" }
}
