import ArgumentParser
import FaultShim
import Foundation
import StrataInspector
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
        if hasSaves { record_mark(Self.before + 1, Self.savesBefore) }
        fault?.kind.plant(nth: fault?.nth ?? 1)
        try work.run(name)
        let count = record_end()
        let planted = fault_planted()
        fault_plant(Int32(PLANT_NOTHING), 1)
        guard planted > 0 || fault == nil else { throw StrataError(.persistentStoreOperation, "no fault was planted") }
        if fault == nil { try compare() }
        print("recorded \(count)")
    }

    private static let savesBefore = 6
    private var hasSaves: Bool { name != "create" && name != "migrate" }

    /// The state that the work starts from, which is durable.
    private func prepare() throws {
        if name == "migrate" { return try MigratedModel.fill(work.directory, Self.noteCount) }
        guard hasSaves else { return }
        let store = try work.openAsItIs()
        var saver = try Saver(store, thread: 1)
        for _ in 0..<Self.savesBefore { _ = try saver.save() }
        store.close()
    }

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

extension Work {
    /// `strata compact`, as a user runs it.
    func compact() throws {
        for count in 1...rounds {
            var command = try StrataCommand.parseAsRoot(["compact", directory.path(percentEncoded: false), "--json"])
            try command.run()
            say(0, count)
        }
    }
}
