import Observation
import StrataModel

/// The rarely needed part of an object, made when first needed.
final class ObjectExtras {
    /// Changed slots from 64 on.
    var moreMask: [UInt64] = []
    /// The values of transient properties that were set, by index.
    var transients: [Int: Any?] = [:]
    /// Decoded values of transformable and composite attributes by index, valid while the row is not changed there.
    var decoded: [Int: Any] = [:]
    /// Decrypted values of attributes by index, valid as long; few, so they are searched one after the other.
    private var decrypted: [(index: Int, value: AttributeValue)] = []
    /// Set where an event ended before the object's newest changes.
    var eventBase: EventBase?
    var registrar: ObservationRegistrar?
    /// Set for a probe.
    var probe: ProbeRecorder?

    func decryptedValue(_ index: Int) -> AttributeValue? { decrypted.first { $0.index == index }?.value }

    /// Keeps a value that `decryptedValue` does not have.
    func keep(decrypted value: AttributeValue, _ index: Int) { decrypted.append((index, value)) }

    /// Forgets the values that were decoded from the row.
    func forgetValues() {
        decoded.removeAll()
        decrypted.removeAll()
    }

    func forgetValue(_ index: Int) {
        decoded[index] = nil
        decrypted.removeAll { $0.index == index }
    }
}
