import Observation
import StrataModel

/// What a managed object is in its context.
struct ObjectFlags: OptionSet {
    let rawValue: UInt32

    static let inserted = ObjectFlags(rawValue: 1)
    /// Stands in the context's list of changed objects.
    static let updated = ObjectFlags(rawValue: 2)
    static let deleted = ObjectFlags(rawValue: 4)
    /// Being saved as deleted: `isDeleted` holds during `didSave`.
    static let savedDeletion = ObjectFlags(rawValue: 128)
    /// New, and deleted again before it was saved.
    static let withdrawn = ObjectFlags(rawValue: 256)
    /// The newest event of the row is not known; it is read before the next change is saved.
    static let revisionUnknown = ObjectFlags(rawValue: 512)
    /// Made after its row was deleted; those who listen heard of it by its id.
    static let deletedAsRow = ObjectFlags(rawValue: 1024)
    /// `prepareForDeletion` is being called.
    static let preparesDeletion = ObjectFlags(rawValue: 2048)
}

/// The rarely needed part of an object, made when first needed.
final class ObjectExtras {
    /// Changed slots from 64 on.
    var moreMask: [UInt64] = []
    /// Values of transient properties by index, of those that were set.
    var transients: [Int: Any?] = [:]
    /// Decoded values of transformable and composite attributes by index, valid while the row is not changed there.
    var decoded: [Int: Any] = [:]
    var registrar: ObservationRegistrar?
    /// Set for a probe.
    var probe: ProbeRecorder?
}
