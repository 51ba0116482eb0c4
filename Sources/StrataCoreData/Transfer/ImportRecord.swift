import Foundation
import StrataModel
import StrataStore

/// A new store's record of the file that it was made from: in its metadata under `coredata`, and in the metadata of
/// each transaction the progress of the import.
struct ImportRecord {
    static let key = "coredata"
    static let stepKey = "strata.coredata.step"

    /// The UUID of the store in the file.
    let identifier: String
    /// The digest of the file with its log of changes.
    let digest: String
    /// The number that is added to a key to make a row number, by root entity.
    let offsets: [String: Int64]
    /// The form that transformables were given.
    let transformables: CoreDataTransformables
    /// The treatment of faults.
    private let onFault: String
    /// Whether the model was not that of the file, and the file's names of properties that the store names otherwise.
    let hasGivenModel: Bool
    let formerNames: [String: String]
    /// The last keys that the file gave, by root entity.
    let lastKeys: [String: Int64]
    /// The version hashes in the file, and Strata's hash of the model that it gave.
    private let versionHashes: [String: Data]
    private let modelHash: Data

    init(
        _ file: CoreDataFile, _ model: ManagedObjectModel, digest: String, offsets: [String: Int64],
        options: CoreDataImportOptions
    ) {
        identifier = file.identifier
        self.digest = digest
        self.offsets = offsets
        transformables = options.transformables
        onFault = options.onFault.rawValue
        hasGivenModel = file.origin == .given || file.origin == .chosenTables
        formerNames = file.formerNames
        lastKeys = file.lastKeys
        versionHashes = file.versionHashes.mapValues { Data($0) }
        modelHash = model.versionHash
    }

    /// Core Data's version hashes of a model; nil if it is another than that of the file, or has other names.
    func versionHashes(of model: ManagedObjectModel) -> [String: Data]? {
        model.versionHash == modelHash && formerNames.isEmpty && !versionHashes.isEmpty ? versionHashes : nil
    }

    /// Whether an import of this file with this model and these options gives what an earlier one began.
    func canContinue(digest: String, model: ManagedObjectModel, options: CoreDataImportOptions) -> Bool {
        self.digest == digest && modelHash == model.versionHash && transformables == options.transformables
            && onFault == options.onFault.rawValue
    }

    /// nil if the store was not made from a file of Core Data.
    init?(_ metadata: [String: AttributeValue]) {
        guard case .composite(let record)? = metadata[Self.key], case .string(let identifier)? = record["store"],
            case .string(let digest)? = record["file"], case .composite(let rows)? = record["rows"]
        else { return nil }
        self.identifier = identifier
        self.digest = digest
        offsets = rows.compactMapValues { if case .integer(let offset) = $0 { offset } else { nil } }
        if case .string(let word)? = record["transformables"] {
            transformables = CoreDataTransformables(rawValue: word) ?? .bytes
        } else {
            transformables = .bytes
        }
        if case .string(let word)? = record["onFault"] { onFault = word } else { onFault = "" }
        hasGivenModel = record["given"] == .boolean(true)
        if case .composite(let names)? = record["names"] {
            formerNames = names.compactMapValues { if case .string(let name) = $0 { name } else { nil } }
        } else {
            formerNames = [:]
        }
        if case .composite(let keys)? = record["keys"] {
            lastKeys = keys.compactMapValues { if case .integer(let key) = $0 { key } else { nil } }
        } else {
            lastKeys = [:]
        }
        if case .data(let hash)? = record["model"] { modelHash = hash } else { modelHash = Data() }
        guard case .composite(let hashes)? = record["hashes"] else {
            versionHashes = [:]
            return
        }
        versionHashes = hashes.compactMapValues { if case .data(let hash) = $0 { hash } else { nil } }
    }

    var value: AttributeValue {
        .composite([
            "store": .string(identifier), "file": .string(digest),
            "rows": .composite(offsets.mapValues { .integer($0) }),
            "transformables": .string(transformables.rawValue), "onFault": .string(onFault), "model": .data(modelHash),
            "hashes": .composite(versionHashes.mapValues { .data($0) }), "given": .boolean(hasGivenModel),
            "names": .composite(formerNames.mapValues { .string($0) }),
            "keys": .composite(lastKeys.mapValues { .integer($0) }),
        ])
    }

    /// The digest of a file and the logs beside it.
    static func digest(ofFileAt path: String) throws -> String {
        try ["", "-wal", "-journal"].map { suffix in
            guard suffix.isEmpty || FileManager.default.fileExists(atPath: path + suffix) else { return "" }
            let file = try FileHandle(forReadingFrom: URL(filePath: path + suffix))
            defer { try? file.close() }
            var (digest, size): (UInt64, Int) = (0, 0)
            while let block = try file.read(upToCount: 1 << 20), !block.isEmpty {
                digest = block.withUnsafeBytes { XXH64.hash($0, seed: digest) }
                size += block.count
            }
            return "\(String(digest, radix: 16)) \(size)"
        }.joined(separator: " ")
    }
}

/// A step of an import: the kind of work, the table, and the last key. In the history it is the number of rows.
struct ImportStep: Equatable {
    enum Phase: String {
        case rows, history, links, pairs
    }

    var phase: Phase
    var table: Int
    /// The last key that is done.
    var key: Int64

    static let start = ImportStep(phase: .rows, table: 0, key: .min)

    init(phase: Phase, table: Int, key: Int64) {
        self.phase = phase
        self.table = table
        self.key = key
    }

    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 3, let phase = Phase(rawValue: String(words[0])), let table = Int(words[1]),
            let key = Int64(words[2])
        else { return nil }
        self.init(phase: phase, table: table, key: key)
    }

    var text: String { "\(phase.rawValue) \(table) \(key)" }

    /// The key behind which a table's rows are to be done; nil if they are done.
    func key(in phase: Phase, table: Int) -> Int64? {
        let order: [Phase] = [.rows, .history, .links, .pairs]
        let (mine, other) = (order.firstIndex(of: self.phase) ?? 0, order.firstIndex(of: phase) ?? 0)
        if mine != other { return mine < other ? .min : nil }
        if self.table != table { return self.table < table ? .min : nil }
        return key
    }
}
