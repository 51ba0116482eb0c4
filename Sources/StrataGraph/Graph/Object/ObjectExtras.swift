import Observation
import StrataModel

/// The rarely needed part of an object, made when first needed.
final class ObjectExtras {
    /// Changed slots from 64 on.
    var moreMask: [UInt64] = []
    /// Values of transient properties by index, of those that were set.
    var transients: [Int: Any?] = [:]
    /// Decoded values of transformable and composite attributes by index, valid while the row is not changed there.
    var decoded: [Int: Any] = [:]
    /// Set where an event ended before the object's newest changes.
    var eventBase: EventBase?
    var registrar: ObservationRegistrar?
    /// Set for a probe.
    var probe: ProbeRecorder?
}
