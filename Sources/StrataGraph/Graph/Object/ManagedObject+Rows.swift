import StrataModel
import StrataStore

// Reading, copying and writing the row of an object. Slots of variable width point behind the fixed area; a new value
// is appended and the old one becomes garbage, which is removed when the row must grow and when it is saved.

extension ManagedObject {
    /// The row as it is now, canonical or not.
    final var rowBytes: UnsafeRawBufferPointer {
        _capacity == 0
            ? UnsafeRawBufferPointer(start: _row, count: _entity.layout.emptyRow.count)
            : UnsafeRawBufferPointer(start: _row, count: Int(_size))
    }

    /// The row as it was read from the store; nil for a new object.
    final var baseBytes: UnsafeRawBufferPointer? {
        if let _base { return UnsafeRawBufferPointer(start: _base, count: Int(_baseSize)) }
        return _flags.contains(.inserted) ? nil : rowBytes
    }

    /// Makes an image the object's row; frees the old row with its changes.
    final func adoptRow(_ image: UnsafeRawBufferPointer, revision: EventNumber) {
        if _capacity != 0 || _mask != 0 || _extras != nil || _base != nil { dropRow() }
        let memory = RowAllocation.allocate(max(image.count, 8))
        if let start = image.baseAddress { memory.copyMemory(from: start, byteCount: image.count) }
        _row = memory
        _size = UInt32(truncatingIfNeeded: image.count)
        _capacity = UInt32(truncatingIfNeeded: max(image.count, 8))
        _revision = revision
    }

    /// Frees the row and its base; the object reads as blank until another is adopted.
    final func dropRow() {
        if _capacity != 0 { RowAllocation.free(_row) }
        RowAllocation.free(_base)
        _base = nil
        _row = _entity.blank
        _capacity = 0
        _size = 0
        clearChangedSlots()
        _extras?.forgetValues()
    }

    /// Keeps the row as the base and gives the object a copy to write into.
    final func copyRowForWriting() {
        let size = Int(_size)
        let capacity = size + 32
        let copy = RowAllocation.allocate(capacity)
        copy.copyMemory(from: _row, byteCount: size)
        _base = _row
        _baseSize = _size
        _row = copy
        _capacity = UInt32(truncatingIfNeeded: capacity)
    }

    /// Goes back to the row that was read.
    final func restoreBase() {
        guard let base = _base else { return }
        RowAllocation.free(_row)
        _row = base
        _size = _baseSize
        _capacity = max(_baseSize, 8)
        _base = nil
        clearChangedSlots()
        _extras?.forgetValues()
    }

    /// Forgets the row that was read: the object's values have no base any more.
    final func dropBase() {
        RowAllocation.free(_base)
        _base = nil
    }

    // MARK: Changed slots

    @usableFromInline final func _markChanged(slot: Int) {
        if slot < 64 {
            _mask |= 1 << UInt64(slot)
        } else {
            let extras = ensureExtras()
            let word = slot / 64 - 1
            while extras.moreMask.count <= word { extras.moreMask.append(0) }
            extras.moreMask[word] |= 1 << UInt64(slot % 64)
        }
    }

    final func isChanged(slot: Int) -> Bool {
        if slot < 64 { return _mask & (1 << UInt64(slot)) != 0 }
        guard let more = _extras?.moreMask, slot / 64 - 1 < more.count else { return false }
        return more[slot / 64 - 1] & (1 << UInt64(slot % 64)) != 0
    }

    final func clearChangedSlots() {
        _mask = 0
        _extras?.moreMask.removeAll()
    }

    /// Slots written since the object was read or made, ascending.
    final var changedSlots: SlotSet { SlotSet(first: _mask, rest: _extras?.moreMask ?? []) }

    final func ensureExtras() -> ObjectExtras {
        if let _extras { return _extras }
        let made = ObjectExtras()
        _extras = made
        return made
    }

    // MARK: Writing

    /// Makes the slot nil.
    @usableFromInline final func _storeNull(_ location: _FieldLocation) {
        _row.setNullBit(slot: Int(location.slot))
        _row.zeroSlot(at: location.start, width: _entity.property(slot: Int(location.slot)).kind.width)
        _markChanged(slot: Int(location.slot))
    }

    /// Writes a value of variable width; the caller sets the null and changed bits.
    @usableFromInline final func _storeBytes(_ bytes: UnsafeRawBufferPointer, _ location: _FieldLocation) {
        let room = Int(_capacity) - Int(_size)
        if bytes.count > room, !growRow(by: bytes.count) { return }
        let start = Int(_size)
        if let source = bytes.baseAddress, bytes.count > 0 {
            (_row + start).copyMemory(from: source, byteCount: bytes.count)
        }
        _row.storeVariable(
            start: UInt32(truncatingIfNeeded: start), length: UInt32(truncatingIfNeeded: bytes.count),
            at: location.start)
        _size = UInt32(truncatingIfNeeded: start + bytes.count)
    }

    /// Compacts the row into larger memory.
    private final func growRow(by count: Int) -> Bool {
        let live: RowImage
        do { live = try _entity.layout.canonicalize(rowBytes) } catch {
            report(corruption(error))
            return false
        }
        let needed = live.count + count
        guard needed <= Int(UInt32.max) else {
            report(StrataError(.keyTooLong, "An object takes 4 GiB or more.", context: errorContext()))
            return false
        }
        let capacity = min(Int(UInt32.max), needed + needed / 2 + 32)
        let memory = RowAllocation.allocate(capacity)
        live.bytes.withUnsafeBytes {
            if let start = $0.baseAddress { memory.copyMemory(from: start, byteCount: $0.count) }
        }
        if _capacity != 0 { RowAllocation.free(_row) }
        _row = memory
        _size = UInt32(truncatingIfNeeded: live.count)
        _capacity = UInt32(truncatingIfNeeded: capacity)
        return true
    }

    /// Writes a to-one slot, inverse and position left alone; the row must be the object's own.
    final func storeReference(_ id: ObjectID, _ location: _FieldLocation) {
        if id.isNil {
            _storeNull(location)
        } else {
            _storeScalar(id.rawValue.littleEndian, location)
            _didStore(location)
        }
    }

    /// Writes a to-one slot of the row as it was before any change; nothing where there is no such row.
    final func rebaseReference(_ id: ObjectID, _ location: _FieldLocation) {
        guard let _base else { return }
        if id.isNil { _base.setNullBit(slot: Int(location.slot)) } else { _base.clearNullBit(slot: Int(location.slot)) }
        _base.storeLittleEndian(id.rawValue, at: location.start)
        // The row may differ from it now.
        _markChanged(slot: Int(location.slot))
    }

    final func reference(_ location: _FieldLocation) -> ObjectID {
        ObjectID(rawValue: UInt64(littleEndian: _loadScalar(location, as: UInt64.self)))
    }

    // MARK: Errors

    /// Entity and object, for an error.
    final func errorContext(_ key: String? = nil, _ value: AttributeValue? = nil) -> StrataError.Context {
        StrataError.Context(entityName: _entity.name, objectID: objectID, key: key, value: value)
    }

    final func corruption(_ error: any Error) -> StrataError {
        (error as? StrataError)
            ?? StrataError(.corrupt, "The object's row is damaged.", context: errorContext(), cause: error)
    }

    /// Reports an error that cannot be thrown to the caller: to the context, or to the log for an object in none.
    final func report(_ error: StrataError) {
        guard let context = _context else { return StoreLogger.warn("\(error)") }
        // The next save has nothing to write for a deleted object, so it has no reason to fail.
        if error.code == .deletedObject, isDeleted { context.tell(error) } else { context.report(error) }
    }
}
