import StrataModel

// Readers of `PendingChanges` that go on where they last stopped.

/// A part of the library that follows the lists of changed objects.
enum ChangeReader: CaseIterable {
    /// The layers that fetches read; see `PendingLayers`.
    case layers
    /// `objectsDidChange`, for observers.
    case announcements
    /// `willSave`.
    case hooks
    /// The undo manager.
    case undo
    /// The end of an event; see `CurrentEvent`.
    case events
}

/// The entries that were added to the lists between two looks of a reader.
struct ChangeNews {
    let inserted: ArraySlice<ManagedObject>
    let updated: ArraySlice<ManagedObject>
    let deleted: ArraySlice<ManagedObject>
    /// Objects that were seen before and are changed again.
    let touched: ArraySlice<ManagedObject>
    /// Ids of objects that were deleted without being made.
    let deletedRows: ArraySlice<ObjectID>

    var hasNoObjects: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && touched.isEmpty }

    /// The objects, some of them perhaps twice.
    var objects: ContiguousArray<ManagedObject> { ContiguousArray(inserted + updated + deleted + touched) }

    /// The objects; their next change makes them count as touched.
    func markedObjects() -> ContiguousArray<ManagedObject> {
        let objects = objects
        for object in objects where object._flags.isPending { object.markSeen() }
        return objects
    }
}

/// The lengths of the lists when a reader last looked.
struct ChangeCursor: Equatable {
    var inserted = 0
    var updated = 0
    var deleted = 0
    var touched = 0
    var deletedRows = 0
}

/// The cursors of all readers.
struct ChangeCursors {
    private var layers = ChangeCursor()
    private var announcements = ChangeCursor()
    private var hooks = ChangeCursor()
    private var undo = ChangeCursor()
    private var events = ChangeCursor()

    subscript(reader: ChangeReader) -> ChangeCursor {
        get {
            switch reader {
            case .layers: layers
            case .announcements: announcements
            case .hooks: hooks
            case .undo: undo
            case .events: events
            }
        }
        set {
            switch reader {
            case .layers: layers = newValue
            case .announcements: announcements = newValue
            case .hooks: hooks = newValue
            case .undo: undo = newValue
            case .events: events = newValue
            }
        }
    }

    /// Moves the cursors back that have passed an entry which leaves its list.
    mutating func noteRemoval(at index: Int, from list: WritableKeyPath<ChangeCursor, Int>) {
        for reader in ChangeReader.allCases where self[reader][keyPath: list] > index {
            self[reader][keyPath: list] -= 1
        }
    }
}
