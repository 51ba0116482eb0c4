public import Foundation
import Locking
public import StrataModel
package import StrataStore

/// A model, the store that holds its objects, and the contexts to work in.
///
/// ```swift
/// let container = try PersistentContainer(name: "Movies", entities: [Movie.self, FamilyMember.self])
/// try container.loadPersistentStores()
/// let movies = try await container.performBackgroundTask { context in
///     try context.count(for: FetchRequest<Movie>())
/// }
/// ```
///
/// A container may be used from any thread and task.
public final class PersistentContainer: Sendable {
    public let name: String
    public let managedObjectModel: ManagedObjectModel
    public let location: PersistentStoreLocation
    public let options: PersistentStoreOptions
    let classes: [String: ManagedObject.Type]
    // The open store, or the one that was closed last: its calls throw `storeClosed`. Guarded by the mutex.
    private let opened = Locked(Opened())
    @MainActor private var madeViewContext: ManagedObjectContext?

    private struct Opened {
        var binding: StoreBinding?
        var isOpen = false
    }

    /// Takes the model from entity classes; parents that are not named are added.
    ///
    /// - Throws: `invalidModel` with everything that is wrong with the model. The disk is not touched.
    public convenience init(
        name: String, entities: [ManagedObject.Type], fetchRequestTemplates: [FetchRequestTemplate] = [],
        fetchedProperties: [FetchedPropertyDescription] = [],
        at location: PersistentStoreLocation = .defaultDirectory,
        options: PersistentStoreOptions = PersistentStoreOptions()
    ) throws {
        let model = try ManagedObjectModel(entities: EntityDefinition.descriptions(of: entities))
            .adding(fetchRequestTemplates: fetchRequestTemplates, fetchedProperties: fetchedProperties)
        self.init(name: name, model: model, entities: entities, at: location, options: options)
    }

    /// Takes a model as it is. Objects of entities without a class among `entities` are plain `ManagedObject`s.
    public init(
        name: String, model: ManagedObjectModel, entities: [ManagedObject.Type] = [],
        at location: PersistentStoreLocation = .defaultDirectory,
        options: PersistentStoreOptions = PersistentStoreOptions()
    ) {
        self.name = name
        managedObjectModel = model
        self.location = location
        self.options = options
        var classes: [String: ManagedObject.Type] = [:]
        for objectClass in entities {
            var next: ManagedObject.Type? = objectClass
            while let current = next, classes[current.entityName] == nil {
                classes[current.entityName] = current
                next = EntityDefinition.of(current).superclass
            }
        }
        self.classes = classes
    }

    /// Stands on a store that is open already, with the model it has and no classes: every object is a plain
    /// `ManagedObject`. Tools work so on any store. Closing the container closes the store.
    package convenience init(over store: Store) throws {
        self.init(
            name: URL(filePath: store.path).deletingPathExtension().lastPathComponent, model: store.schema.model,
            at: .url(URL(filePath: store.path, directoryHint: .isDirectory)))
        let binding = try StoreBinding(store: store, schema: store.schema, classes: [:])
        opened.withLock { $0 = Opened(binding: binding, isOpen: true) }
    }

    /// Opens the store, or makes it; loading again does nothing.
    ///
    /// - Throws: `persistentStoreOpen`, `migration`, `modelChanged`, or what the file system says.
    public func loadPersistentStores() throws {
        try opened.withLock { opened in
            guard !opened.isOpen else { return }
            if case .staged(let stages) = options.migration {
                try StageRun(container: self, location: storeLocation(), stages: stages).run()
            }
            let store = try Store.open(storeLocation(), model: managedObjectModel, options: options.storeOptions)
            do {
                opened.binding = try StoreBinding(
                    store: store, schema: store.schema, classes: classes, model: managedObjectModel)
                opened.isOpen = true
            } catch {
                store.close()
                throw error
            }
        }
    }

    /// Whether the store is open.
    public var isLoaded: Bool { opened.withLock(\.isOpen) }

    /// Closes the store after the saves that wait; contexts that are still used then throw `storeClosed`.
    public func close() {
        let binding = opened.withLock { opened in
            opened.isOpen = false
            return opened.binding
        }
        binding?.store.close()
    }

    /// What contexts stand on.
    var binding: StoreBinding {
        guard let binding = opened.withLock(\.binding) else {
            preconditionFailure("The container \(name) has no open store: call loadPersistentStores() first.")
        }
        return binding
    }

    /// What it will take to bring the store to the container's model when it is loaded; nothing is written.
    ///
    /// - Returns: an empty plan for a store that has the model, or that is not there yet.
    /// - Throws: `persistentStoreOpen`, `persistentStoreTimeout` while another process migrates it.
    public func migrationPlan() throws -> MigrationPlan {
        if let store = opened.withLock({ $0.isOpen ? $0.binding?.store : nil }) {
            return try store.migrationPlan(to: managedObjectModel)
        }
        guard let storeURL, FileManager.default.fileExists(atPath: storeURL.appending(path: "data.mdb").path) else {
            return MigrationPlan(steps: [])
        }
        var options = options.storeOptions
        options.isReadOnly = true
        let store = try Store.open(storeLocation(), model: nil, options: options)
        defer { store.close() }
        return try store.migrationPlan(to: managedObjectModel)
    }

    /// For tests and tools of the same package.
    package var store: Store { binding.store }

    // MARK: Where

    private func storeLocation() throws -> StoreLocation {
        switch location {
        case .inMemory: return .inMemory
        case .url(let url): return .directory(url)
        case .defaultDirectory:
            let directory = Self.defaultDirectoryURL(for: name)
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            return .directory(directory.appending(path: "\(name).strata", directoryHint: .isDirectory))
        }
    }

    /// The directory that the store of a container of this name has by default: `$XDG_DATA_HOME/<name>`, where the
    /// variable is `~/.local/share` when it is not set.
    public static func defaultDirectoryURL(for name: String) -> URL {
        let environment = ProcessInfo.processInfo.environment
        // The specification says that relative paths in the variable are to be ignored.
        if let home = environment["XDG_DATA_HOME"], home.hasPrefix("/") {
            return URL(filePath: home, directoryHint: .isDirectory).appending(path: name, directoryHint: .isDirectory)
        }
        return FileManager.default.homeDirectoryForCurrentUser
            .appending(path: ".local/share/\(name)", directoryHint: .isDirectory)
    }

    /// The directory of the store's files; nil in memory.
    public var storeURL: URL? {
        switch location {
        case .inMemory: nil
        case .url(let url): url
        case .defaultDirectory:
            Self.defaultDirectoryURL(for: name).appending(path: "\(name).strata", directoryHint: .isDirectory)
        }
    }

    /// The store's own id, part of every object's URI.
    public var storeIdentifier: UUID { binding.store.identifier }

    // MARK: Contexts

    /// The context for the user interface, on the main actor. Its objects are observable.
    @MainActor public var viewContext: ManagedObjectContext {
        if let madeViewContext { return madeViewContext }
        let context = makeContext()
        context.observesObjects = true
        context.name = "view"
        context.reach = { [weak self] in
            Task { @MainActor [weak self] in self?.madeViewContext?.mergeWhatOthersSaved() }
        }
        madeViewContext = context
        return context
    }

    /// A fresh context at the newest state, for whoever it is handed to.
    public func newBackgroundContext() -> sending ManagedObjectContext { makeContext() }

    private func makeContext() -> sending ManagedObjectContext {
        let binding = binding
        do {
            return ManagedObjectContext(binding: binding, at: try binding.store.head())
        } catch {
            let context = ManagedObjectContext(binding: binding, at: .zero)
            context.report(ManagedObjectContext.typed(error))
            return context
        }
    }

    /// Runs `body` with a fresh context on a thread of the container's own, where it may block.
    ///
    /// Nothing is saved unless `body` saves it.
    public func performBackgroundTask<Result: Sendable>(
        _ body: @escaping @Sendable (ManagedObjectContext) throws -> Result
    ) async throws -> Result {
        try await WorkerThreads.shared.run { try body(self.newBackgroundContext()) }
    }

    /// A context that shows the store as it was, for ever, and cannot be changed.
    ///
    /// It shows the past through the newest model where that can say what was. When values have since been rewritten, by
    /// a change of type or of how objects are linked, it shows the model of then; entities that have changed come as
    /// plain `ManagedObject`s with the names and types they had.
    ///
    /// - Throws: `futureSequence`, `historyDropped`.
    public func context(asOf moment: HistoryMoment) throws -> sending ManagedObjectContext {
        let binding = binding
        let eventNumber = try eventNumber(at: moment)
        let past = try binding.ofPast(eventNumber, classes)
        return ManagedObjectContext(binding: past, at: eventNumber, isPast: true)
    }

    // MARK: Ids

    /// `strata://<store UUID>/<Entity>/p<row>`
    ///
    /// - Throws: `unknownEntity` for an id that is of no entity of this store.
    public func uriRepresentation(of id: ObjectID) throws -> URL {
        guard let entity = binding.entity(id.entityID),
            let url = URL(string: "strata://\(storeIdentifier.uuidString)/\(entity.name)/p\(id.row)")
        else {
            throw StrataError(.unknownEntity, "The id is of no entity of this store.", context: .init(objectID: id))
        }
        return url
    }

    /// The id that a URI stands for; whether there is such an object only a context can say.
    ///
    /// - Throws: `validationInvalidURI`, also for the URI of another store; `unknownEntity`.
    public func objectID(forURIRepresentation uri: URL) throws -> ObjectID {
        let parts = uri.path.split(separator: "/")
        guard uri.scheme == "strata", let host = uri.host, parts.count == 2, parts[1].hasPrefix("p"),
            let row = UInt64(parts[1].dropFirst()), row > 0, row <= ObjectID.maximumRow
        else { throw Self.invalidURI(uri, "It is no object's URI.") }
        guard UUID(uuidString: host) == storeIdentifier else { throw Self.invalidURI(uri, "It names another store.") }
        guard let entity = binding.entity(named: String(parts[0])) else {
            throw ManagedObjectContext.unknownEntity(String(parts[0]))
        }
        return ObjectID(entity: entity.id, row: row)
    }

    private static func invalidURI(_ uri: URL, _ message: String) -> StrataError {
        StrataError(.validationInvalidURI, message, context: .init(value: .url(uri)))
    }
}

/// Where a container keeps its store.
public enum PersistentStoreLocation: Sendable, Hashable {
    /// `<name>.strata` in `PersistentContainer.defaultDirectoryURL(for:)`.
    case defaultDirectory
    /// A directory that becomes the store's own.
    case url(URL)
    /// Nothing is left behind, however the process ends; everything else is as on disk.
    case inMemory
}

/// What a save that has returned survives.
public enum PersistentStoreDurability: Sendable, Hashable, CaseIterable {
    /// Power loss.
    case full
    /// Power loss may take the last saves; the file stays sound.
    case relaxed
    /// The end of the process only; for stores that may be thrown away.
    case disposable
}

/// How a store is opened.
public struct PersistentStoreOptions: Sendable {
    public var durability = PersistentStoreDurability.full
    public var isReadOnly = false
    /// How long a save waits for writers of other processes before it throws `persistentStoreTimeout`.
    public var timeout = Duration.seconds(30)
    /// What is done when the store has another model.
    public var migration = PersistentStoreMigration.automatic
    /// Values that a migration makes by a rule of the app's: conversions, and defaults that are computed.
    public var migrationRules: [MigrationRule] = []

    public init(
        durability: PersistentStoreDurability = .full, isReadOnly: Bool = false, timeout: Duration = .seconds(30),
        migration: PersistentStoreMigration = .automatic, migrationRules: [MigrationRule] = []
    ) {
        self.durability = durability
        self.isReadOnly = isReadOnly
        self.timeout = timeout
        self.migration = migration
        self.migrationRules = migrationRules
    }

    var storeOptions: StoreOptions {
        var options = StoreOptions()
        options.durability =
            switch durability {
            case .full: .full
            case .relaxed: .relaxed
            case .disposable: .disposable
            }
        options.isReadOnly = isReadOnly
        options.writerLockTimeout = timeout
        if case .none = migration { options.migration.isAllowed = false }
        options.migration.values = migrationRules
        return options
    }
}
