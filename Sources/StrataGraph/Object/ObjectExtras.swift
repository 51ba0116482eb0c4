import Observation
import StrataModel

/// What a managed object is in its context.
struct ObjectFlags: OptionSet {
    let rawValue: UInt32

    static let inserted = ObjectFlags(rawValue: 1)
    /// Stands in the context's list of changed objects.
    static let updated = ObjectFlags(rawValue: 2)
    static let deleted = ObjectFlags(rawValue: 4)
    /// Stands in the context's list of deleted objects.
    static let listedDeleted = ObjectFlags(rawValue: 8)
    /// `willSave` has been called in this save and nothing changed since.
    static let quiet = ObjectFlags(rawValue: 16)
    /// Deletion has been propagated to the other ends of its relationships.
    static let propagated = ObjectFlags(rawValue: 32)
    /// Changes of links are inverse maintenance, not to be mirrored again.
    static let mirroring = ObjectFlags(rawValue: 64)
    /// Being saved as deleted: `isDeleted` holds during `didSave`.
    static let savedDeletion = ObjectFlags(rawValue: 128)
    /// New, and deleted again before it was saved.
    static let withdrawn = ObjectFlags(rawValue: 256)
    /// The newest event of the row is not known; it is read before the next change is saved.
    static let revisionUnknown = ObjectFlags(rawValue: 512)
}

/// The rarely needed part of an object, made when first needed.
final class ObjectExtras {
    /// Changed slots from 64 on.
    var moreMask: [UInt64] = []
    /// Values of transient attributes by index.
    var transients: [Int: Any] = [:]
    /// Decoded values of transformable and composite attributes by index, valid while the row is not changed there.
    var decoded: [Int: Any] = [:]
    var registrar: ObservationRegistrar?
    /// The to-many relationships looked at, by index.
    var toMany: [Int: ToManyState] = [:]
    /// Set for a probe.
    var probe: ProbeRecorder?
}
