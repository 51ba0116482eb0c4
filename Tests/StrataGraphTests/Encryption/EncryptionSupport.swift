import Foundation
import StrataGraph
import StrataModel
import Testing

let firstKey = Data(repeating: 1, count: 32)
let secondKey = Data((0..<40).map { UInt8($0) })

/// A store of patients in a directory of its own, or in memory.
func makePatients(
    at location: PersistentStoreLocation = .inMemory, encryption: StoreEncryption? = StoreEncryption(key: firstKey),
    _ entities: [ManagedObject.Type] = [Patient.self, Doctor.self, Secrets.self], isReadOnly: Bool = false
) throws -> PersistentContainer {
    var options = PersistentStoreOptions(durability: .disposable, isReadOnly: isReadOnly)
    options.encryption = encryption
    let container = try PersistentContainer(name: "Patients", entities: entities, at: location, options: options)
    try container.loadPersistentStores()
    MadeStores.current?.add(container)
    return container
}

extension ManagedObjectContext {
    @discardableResult
    func addPatient(_ name: String, ssn: String, diagnosis: String? = nil) -> Patient {
        let patient = Patient(context: self)
        patient.name = name
        patient.ssn = ssn
        patient.diagnosis = diagnosis
        return patient
    }
}

/// A directory that is removed when it is let go.
final class EncryptionFolder {
    let url = FileManager.default.temporaryDirectory
        .appending(path: "strata-encryption-\(UUID().uuidString)", directoryHint: .isDirectory)

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(at: url) }

    func location(_ name: String) -> PersistentStoreLocation { .url(store(name)) }
    func store(_ name: String) -> URL { url.appending(path: name, directoryHint: .isDirectory) }

    /// The files that contain one of the texts.
    func files(containing texts: [String]) throws -> [String] {
        let files = FileManager.default.enumerator(at: url, includingPropertiesForKeys: [.isRegularFileKey])
        var found: [String] = []
        for case let file as URL in files ?? .init() {
            guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else { continue }
            let bytes = try Data(contentsOf: file)
            for text in texts where bytes.range(of: Data(text.utf8)) != nil {
                found.append("\(file.lastPathComponent): \(text)")
            }
        }
        return found
    }
}
