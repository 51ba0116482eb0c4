import ArgumentParser
import Foundation
import StrataGraph
import StrataModel
import StrataStore

/// The STORE argument of every command.
struct StoreArguments: ParsableArguments {
    @Argument(help: ArgumentHelp("The store's directory.", valueName: "store"), completion: .directory)
    var path: String
    @Option(
        help: ArgumentHelp(
            "What the store logs to standard error: trace, debug, info (usual), notice, warning, error or critical.",
            valueName: "level"))
    var logLevel: LogLevel?
    @Option(
        help: ArgumentHelp(
            "A file that holds the key of encrypted attributes, 32 bytes or more. STRATA_KEY_FILE names one, too.",
            valueName: "file"), completion: .file())
    var keyFile: [String] = []
    @Option(
        help: ArgumentHelp(
            "The directory with the keys of subjects, as SubjectKeyDirectory makes it. STRATA_SUBJECT_KEYS names one, too.",
            valueName: "directory"), completion: .directory)
    var subjectKeys: String?

    init() {}

    init(path: String) {
        self.path = path
        logLevel = nil
        keyFile = []
        subjectKeys = nil
    }

    private var location: StoreLocation { .directory(URL(filePath: path, directoryHint: .isDirectory)) }

    /// Runs `body` with the store open for reading only.
    func reading<R>(_ body: (Store) throws -> R) throws -> R {
        var options = StoreOptions()
        options.isReadOnly = true
        options.createsIfMissing = false
        return try with(options, body)
    }

    /// Runs `body` with the store open for reading only, while a `StoreGuard` keeps everybody from opening it.
    func readingAlone<R>(_ body: (Store) throws -> R) throws -> R {
        var options = StoreOptions()
        options.isReadOnly = true
        options.isAlone = true
        options.createsIfMissing = false
        return try with(options, body)
    }

    /// Runs `body` with the store open for reading only, and no keys of encrypted attributes whatever names some.
    func readingWithoutKeys<R>(_ body: (Store) throws -> R) throws -> R {
        var options = StoreOptions()
        options.isReadOnly = true
        options.createsIfMissing = false
        options.encryptionKeys = { [] }
        return try with(options, body)
    }

    /// Runs `body` with the store open for writing.
    ///
    /// - Parameter progress: shows the progress of an interrupted rebuild, which is finished first.
    func writing<R>(_ progress: ProgressHandler? = nil, _ body: (Store) throws -> R) throws -> R {
        var options = StoreOptions()
        options.createsIfMissing = false
        options.migration.progress = progress
        return try with(options, body)
    }

    /// Runs `body` with the store open for writing, and again with the store opened anew if another process changes the
    /// model meanwhile.
    ///
    /// - Parameter body: writes one transaction, or nothing where it throws.
    func writingOnce<R>(_ progress: ProgressHandler? = nil, _ body: (Store) throws -> R) throws -> R {
        try whileModelChanges { try writing(progress, body) }
    }

    /// Runs the work again each time that it was refused because another process has changed the model of the store.
    private func whileModelChanges<R>(_ work: () throws -> R) throws -> R {
        for _ in 0..<10 {
            do { return try work() } catch let error as StrataError where error.code == .modelChanged { continue }
        }
        throw StrataError(.modelChanged, "Other processes change the store's model again and again. Try again.")
    }

    /// Runs `body` with the store open for writing, after it has adopted a model.
    ///
    /// - Parameters:
    ///   - keepingOwnViews: whether views of the store stay that the model does not have.
    ///   - make: makes the model of the one that the store has. It is called again if another process changes that
    ///     before the new one is installed.
    ///   - body: is called with the store that has the model.
    func changingModel<R>(
        keepingOwnViews: Bool = true, _ make: (Store) throws -> ManagedObjectModel, _ body: (Store) throws -> R
    ) throws -> R {
        var options = StoreOptions()
        options.createsIfMissing = false
        options.keepsOwnViews = keepingOwnViews
        return try whileModelChanges {
            let model = try reading { store in
                options.replacedModel = store.schema.version
                return try make(store)
            }
            // What the body throws comes after the change of the model.
            return try with(options, adopting: model) { store in Result { try body(store) } }
        }.get()
    }

    /// Whether a migration or a rebuild was interrupted, so that the store can only be opened for writing.
    func hasInterruptedChange() throws -> Bool {
        do {
            return try reading { _ in false }
        } catch let error as StrataError where [.persistentStoreOpen, .persistentStoreTimeout].contains(error.code) {
            return FileManager.default.fileExists(atPath: path)
        }
    }

    private func with<R>(
        _ options: StoreOptions, adopting model: ManagedObjectModel? = nil, _ body: (Store) throws -> R
    ) throws -> R {
        let store = try open(options, adopting: model)
        defer { store.close() }
        do {
            return try body(store)
        } catch let error as StrataError where !error.context.conflicts.isEmpty {
            throw NamedConflicts(error: error, names: try store.recordedNames())
        }
    }

    /// Opens the store, or a store in memory with the shared log of this address.
    private func open(_ options: StoreOptions, adopting model: ManagedObjectModel?) throws -> Store {
        var options = options
        options.encryptionKeys = options.encryptionKeys ?? KeyFiles.keys(of: keyFile)
        options.subjectKeys = try KeyFiles.subjectKeys(subjectKeys)?.source
        if let address = SharedLogAddress(path) { return try address.open(options, adopting: model) }
        try checkIsThere()
        DamageGuard.watch(path)
        return try Store.open(location, model: model, options: options)
    }

    /// - Throws: `persistentStoreOpen` with the path if there is no store.
    func checkIsThere() throws {
        guard !path.isEmpty else { throw UsageError("The store has no name: its path is empty.") }
        var status = stat()
        guard stat(path, &status) == 0 else {
            let number = errno
            let reason = number == ENOENT ? "." : ": \(String(cString: strerror(number)))."
            throw StrataError(.persistentStoreOpen, "There is no store at \(path)\(reason)")
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw StrataError(.persistentStoreOpen, "\(path) is no directory, and so no store.")
        }
        guard access(path + "/data.mdb", F_OK) == 0 else {
            if errno == EACCES {
                throw StrataError(.persistentStoreOpen, "The directory \(path) cannot be read: permission denied.")
            }
            throw StrataError(
                .persistentStoreOpen, "There is no store in \(path): no file data.mdb is there.")
        }
    }
}
