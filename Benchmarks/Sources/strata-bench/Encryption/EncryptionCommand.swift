import ArgumentParser
import Foundation
import StrataGraph

/// What the benchmark needs of both classes.
protocol RecordObject: ManagedEntity {
    var name: String { get set }
    var number: String { get set }
    var diagnosis: String { get set }
    var ward: String { get set }
    var weight: Double { get set }
    var visits: Int { get set }
}
extension PlainRecord: RecordObject {}
extension SecretRecord: RecordObject {}

/// Times inserting, faulting and finding objects of which two of six attributes are encrypted, beside the same in the clear.
struct EncryptionWorkload {
    struct Result: Codable {
        let measure: String
        /// Nanoseconds an object.
        let plain: Double
        let encrypted: Double
    }

    let objects: Int
    let directory: URL
    private static let batch = 10_000
    private static let fetches = 20_000

    func run() throws -> [Result] {
        let plain = try times(PlainRecord.self), encrypted = try times(SecretRecord.self)
        let measures = ["insert", "fault, the two not read", "fault, all read", "equality fetch"]
        return zip(measures, zip(plain, encrypted)).map {
            Result(measure: $0, plain: $1.0, encrypted: $1.1)
        }
    }

    private func times<Record: RecordObject>(_ type: Record.Type) throws -> [Double] {
        var options = PersistentStoreOptions(durability: .relaxed)
        options.encryption = StoreEncryption(key: Data(repeating: 7, count: 32))
        let container = try PersistentContainer(
            name: "Records", entities: [type],
            at: .url(directory.appending(path: "\(type).strata", directoryHint: .isDirectory)), options: options)
        try container.loadPersistentStores()
        defer { container.close() }
        let insert = try nanoseconds {
            for first in stride(from: 0, to: objects, by: Self.batch) {
                let context = container.newBackgroundContext()
                for number in first..<min(first + Self.batch, objects) {
                    let made = try context.insertNewObject(forEntityName: Record.entityName)
                    guard let record = made as? Record else { continue }
                    record.name = "Name of \(number)"
                    record.number = "N-\(number)"
                    record.diagnosis = "Diagnosis \(number % 500)"
                    record.ward = "Ward \(number % 50)"
                    record.weight = Double(number % 100)
                    record.visits = number
                }
                try context.save()
            }
        }
        var total = 0
        func fault(_ read: (Record) -> Int) throws -> Double {
            let reader = container.newBackgroundContext()
            return try nanoseconds {
                for record in try reader.fetch(FetchRequest<Record>()) {
                    total += record.name.utf8.count + record.ward.utf8.count + Int(record.weight) + record.visits
                    total += read(record)
                }
            }
        }
        let partFault = try fault { _ in 0 }
        let fullFault = try fault { $0.number.utf8.count + $0.diagnosis.utf8.count }
        let finder = container.newBackgroundContext()
        let fetch = try nanoseconds {
            for round in 0..<Self.fetches {
                let number = round &* 7919 % objects
                let found = try finder.fetch(
                    FetchRequest<Record>(where: FetchPredicate(format: "number == %@", "N-\(number)")))
                total += found.count
            }
        }
        guard total > 0 else { throw ValidationError("Nothing was read.") }
        return [insert, partFault, fullFault].map { $0 / Double(objects) } + [fetch / Double(Self.fetches)]
    }
}

/// `strata-bench encryption [--objects 200000]`
struct EncryptionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "encryption",
        abstract: "Times objects of which two of six attributes are encrypted, beside the same in the clear.")

    @Option(help: "Objects of each store.") var objects = 200_000
    @OptionGroup var folder: WorkingFolder

    func validate() throws {
        guard objects >= 1_000 else { throw ValidationError("There is too little to be measured.") }
    }

    func run() throws {
        try folder.run { directory in
            try EncryptionWorkload(objects: objects, directory: directory).run()
        } print: { results in
            print("| measure | in the clear, ns | encrypted, ns | times |\n|---|--:|--:|--:|")
            for result in results {
                func text(_ value: Double) -> String { value.formatted(.number.precision(.significantDigits(4))) }
                print(
                    "| \(result.measure) | \(text(result.plain)) | \(text(result.encrypted)) | "
                        + "\(text(result.encrypted / result.plain)) |")
            }
        }
    }
}
