// What `print` shows of contexts.

extension ManagedObjectContext: CustomStringConvertible {
    /// The name, what it stands on, and how much it has not saved: `context "import" at event 34; 1 new, 2 updated`.
    ///
    /// Makes no object and reads nothing.
    public var description: String {
        var text = parent == nil ? "context" : isScratch ? "scratch context" : "child context"
        if let name { text += " \(name.debugDescription)" }
        text += " at event \(eventNumber)"
        if isPast { text += " of the past" }
        let counts = [
            (insertedObjects.count, "new"), (updatedObjects.count, "updated"), (deletedObjectIDs.count, "deleted"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return counts.isEmpty ? text : "\(text); \(counts.joined(separator: ", "))"
    }
}
