import FaultShim
import Foundation
import StrataModel
import StrataStore

/// A piece of work on a store, of which every call that changes a file is recorded.
struct Recording {
    private let root: URL
    private let name: String
    private let trace: String
    private let work: Work
    private let durability: StoreDurability
    private let fault: (kind: PlantedFault, nth: Int)?

    /// Marks that tell what was saved before the recording: the thread, and this.
    static let before = 1_000
    /// The number of objects that a migration finds.
    static let noteCount = 12

    init(_ arguments: [String], _ options: StoreOptions) throws {
        guard fault_available() == 1 else {
            print("unavailable")
            exit(0)
        }
        root = URL(filePath: arguments[2], directoryHint: .isDirectory)
        name = arguments[4]
        trace = arguments[5]
        durability = options.durability
        work = Work(directory: Self.store(in: root), options: options, rounds: Int(arguments[6]) ?? 1)
        fault =
            arguments.count > 8 ? PlantedFault(rawValue: arguments[7]).map { ($0, Int(arguments[8]) ?? 1) } : nil
    }

    static func store(in root: URL) -> URL { root.appending(path: "main.strata", directoryHint: .isDirectory) }

    func run() throws {
        try prepare()
        let descriptor = open(trace, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
        record_begin(root.path(percentEncoded: false), descriptor)
        if hasSaves { record_mark(Self.before + 1, savesBefore) }
        fault?.kind.plant(nth: fault?.nth ?? 1)
        try work.run(name)
        let count = record_end()
        let planted = fault_planted()
        fault_plant(Int32(PLANT_NOTHING), 1)
        guard planted > 0 || fault == nil else { throw StrataError(.persistentStoreOperation, "no fault was planted") }
        if fault == nil { try compare() }
        print("recorded \(count)")
    }

    private var savesBefore: Int { name == "restore" ? 8 : 6 }
    private var hasSaves: Bool { !["create", "migrate", "upgrade", "rotate", "subjects"].contains(name) }

    /// The state that the work starts from, which is durable.
    private func prepare() throws {
        switch name {
        case "create", "subjects": break
        case "migrate": try MigratedModel.fill(work.directory, Self.noteCount)
        case "upgrade": try work.prepareUpgrade()
        case "rotate": try RotatedNotes.fill(work, Self.noteCount)
        case "erase", "thin", "ship", "thinnedship", "follow": try work.prepareNotes(savesBefore)
        default:
            let store = try work.openAsItIs()
            var saver = try Saver(store, thread: 1)
            for number in 1...savesBefore {
                if name == "restore", number == Self.savesInBackup + 1 { try store.backup(to: work.kept) }
                _ = try saver.save()
            }
            store.close()
        }
    }

    /// The saves of a backup that replaces the store.
    static let savesInBackup = 6

    /// Whether the records are complete: what they come to is what is there.
    private func compare() throws {
        let trace = try Trace(URL(filePath: trace))
        let image = trace.image(before: trace.operations.count) { _ in .whole }
        let found = try Image.files(of: root)
        guard image.files == found else {
            let names = Set(image.files.keys).union(found.keys).filter { image.files[$0] != found[$0] }
            throw StrataError(.persistentStoreOperation, "the records do not tell of all changes: \(names.sorted())")
        }
    }
}
