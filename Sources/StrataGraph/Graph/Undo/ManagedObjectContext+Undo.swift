import StrataModel

extension ManagedObjectContext {
    /// Takes the last group of changes back; without an `undoManager`, or without changes, it does nothing.
    ///
    /// - Throws: as `ObjectUndoManager.undo()`.
    public func undo() throws { try undoManager?.undo() }

    /// Makes the changes again that the last `undo()` took back; without an `undoManager` it does nothing.
    ///
    /// - Throws: as `ObjectUndoManager.redo()`.
    public func redo() throws { try undoManager?.redo() }
}
