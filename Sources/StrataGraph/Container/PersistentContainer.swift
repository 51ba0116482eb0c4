public import Foundation
import Locking
public import StrataModel
package import StrataStore

/// Opens the store for a model and makes the contexts that work with its objects.
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
    /// The name of the container, and of its store in the default directory.
    public let name: String
    /// The model that the store is opened with, or migrated to.
    public let managedObjectModel: ManagedObjectModel
    /// The location of the store.
    public let location: PersistentStoreLocation
    /// Options for opening the store.
    public let options: PersistentStoreOptions
    let classes: [String: ManagedObject.Type]
    // The open store, or the store that was closed last, whose calls throw `storeClosed`. Guarded by its mutex.
    private let opened = Locked(Opened())
    @MainActor private var madeViewContext: ManagedObjectContext?

    private struct Opened {
        var binding: StoreBinding?
        var isOpen = false
    }

    /// Makes a container whose model consists of entity classes. Superclasses are added.
    ///
    /// The store is opened by `loadPersistentStores()`.
    ///
    /// - Throws: `invalidModel` with every problem of the model.
    public convenience init(
        name: String, entities: [ManagedObject.Type], fetchRequestTemplates: [FetchRequestTemplate] = [],
        fetchedProperties: [FetchedPropertyDescription] = [], views: [ViewDescription] = [],
        at location: PersistentStoreLocation = .defaultDirectory,
        options: PersistentStoreOptions = PersistentStoreOptions()
    ) throws {
        let model = try ManagedObjectModel(entities: EntityDefinition.descriptions(of: entities))
            .adding(
                fetchRequestTemplates: fetchRequestTemplates, fetchedProperties: fetchedProperties, views: views)
        self.init(name: name, model: model, entities: entities, at: location, options: options)
    }

    /// Makes a container for a model.
    ///
    /// - Parameter entities: classes for entities of the model. Objects of other entities are plain `ManagedObject`s.
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

    /// Makes a container of a store that is open, with the store's model. All objects are plain `ManagedObject`s.
    ///
    /// Tools use it to work with any store. Closing the container closes the store.
    package convenience init(over store: Store) throws {
        self.init(
            name: URL(filePath: store.path).deletingPathExtension().lastPathComponent, model: store.schema.model,
            at: .url(URL(filePath: store.path, directoryHint: .isDirectory)))
        let binding = try StoreBinding(store: store, schema: store.schema, classes: [:])
        opened.withLock { $0 = Opened(binding: binding, isOpen: true) }
    }

    /// Opens the store, creates it if there is none, and migrates it if it has another model. Does nothing if it is
    /// open.
    ///
    /// Work that an ended process left unfinished (a rebuild, a migration, an erasure) is finished first.
    ///
    /// - Throws: `persistentStoreOpen`, also for files of another user; `persistentStoreIncompatibleVersionHash`,
    ///   `migration`, `modelChanged`, `modelDowngrade` for a model that the store has left behind (see
    ///   `PersistentStoreOptions.allowsModelDowngrade`); `invalidModel`; `encryptionKeyWrong`, and
    ///   `encryptionKeyMissing` where a migration needs the key; `corrupt`, `noSpace`, `persistentStoreTimeout`;
    ///   `readOnly` for a standby; with a shared log `logUnavailable` and `divergedLog`; or an error of the file
    ///   system.
    public func loadPersistentStores() throws {
        try opened.withLock { opened in
            guard !opened.isOpen else { return }
            if case .staged(let stages) = options.migration {
                try StageRun(container: self, location: storeLocation(), stages: stages).run()
            }
            try MisfitDeletion(self, storeLocation())?.run()
            let store = try Store.open(storeLocation(), model: managedObjectModel, options: options.storeOptions)
            do {
                let binding = try StoreBinding(
                    store: store, schema: store.schema, classes: classes, model: managedObjectModel,
                    requestBudget: options.requestBudget, observer: options.observer)
                opened.binding = binding
                opened.isOpen = true
                ClassModel.adopt(binding, for: classes.values)
                binding.warnOfMissingTransformers()
            } catch {
                store.close()
                throw error
            }
        }
    }

    /// Whether the store is open.
    public var isLoaded: Bool { opened.withLock(\.isOpen) }

    /// Closes the store after the saves that wait. Contexts that are used afterwards throw `storeClosed`.
    public func close() {
        let binding = opened.withLock { opened in
            opened.isOpen = false
            return opened.binding
        }
        guard let binding else { return }
        ClassModel.release(binding, for: classes.values)
        binding.store.close()
    }

    deinit {
        if let binding = opened.withLock(\.binding) { ClassModel.release(binding, for: classes.values) }
    }

    /// The open store with its classes, which all contexts share.
    var binding: StoreBinding {
        guard let binding = opened.withLock(\.binding) else {
            preconditionFailure("The container \(name) has no open store: call loadPersistentStores() first.")
        }
        return binding
    }

    /// The steps that loading will take to bring the store to the container's model. Writes nothing.
    ///
    /// - Returns: an empty plan for a store that has the model, or that does not exist.
    /// - Throws: `persistentStoreOpen`; `persistentStoreTimeout` while another process migrates the store.
    public func migrationPlan() throws -> MigrationPlan {
        try look { try $0.migrationPlan(to: managedObjectModel) } ?? .empty
    }

    /// Runs `body` with the open store, or with the store open for reading; nil if there is none.
    private func look<R>(_ body: (Store) throws -> R) throws -> R? {
        if let store = opened.withLock({ $0.isOpen ? $0.binding?.store : nil }) { return try body(store) }
        guard let storeURL, FileManager.default.fileExists(atPath: storeURL.appending(path: "data.mdb").path) else {
            return nil
        }
        var options = options.storeOptions
        options.isReadOnly = true
        let store = try Store.open(storeLocation(), model: nil, options: options)
        defer { store.close() }
        return try body(store)
    }

    /// The reasons why objects of the store do not fit the container's model, with its migration rules. Writes nothing.
    ///
    /// - Returns: none if loading will succeed, and for a store that does not exist.
    /// - Throws: `persistentStoreOpen`; `persistentStoreTimeout` while another process migrates the store.
    /// - Complexity: O(objects that the change of the model concerns).
    public func migrationProblems() throws -> [MigrationProblem] {
        try look { try $0.misfits(of: managedObjectModel, options.migrationRules).problems } ?? []
    }

    /// The store, for tests and tools of the same package.
    package var store: Store { binding.store }

    // MARK: Where

    private func storeLocation() throws -> StoreLocation {
        switch location {
        case .inMemory: return .inMemory
        case .url(let url): return .directory(url)
        case .defaultDirectory:
            let directory = Self.defaultDirectoryURL(for: name)
            try Store.makeDirectory(directory, mode: 0o700)
            return .directory(directory.appending(path: "\(name).strata", directoryHint: .isDirectory))
        }
    }

    /// The directory that holds a container's store by default: `$XDG_DATA_HOME/<name>`, or `~/.local/share/<name>` if
    /// the variable is not set. `~` is `$HOME`, or the user's directory without the variable.
    public static func defaultDirectoryURL(for name: String) -> URL {
        defaultDirectoryURL(for: name, ProcessInfo.processInfo.environment)
    }

    static func defaultDirectoryURL(for name: String, _ environment: [String: String]) -> URL {
        // The XDG specification demands that relative paths are ignored.
        func directory(_ variable: String) -> URL? {
            guard let path = environment[variable], path.hasPrefix("/") else { return nil }
            return URL(filePath: path, directoryHint: .isDirectory)
        }
        if let data = directory("XDG_DATA_HOME") { return data.appending(path: name, directoryHint: .isDirectory) }
        // Foundation takes the directory from the user database on Linux, and a shell takes `~` from the variable.
        return (directory("HOME") ?? FileManager.default.homeDirectoryForCurrentUser)
            .appending(path: ".local/share/\(name)", directoryHint: .isDirectory)
    }

    /// The directory of the store's files; nil for a store in memory.
    public var storeURL: URL? {
        switch location {
        case .inMemory: nil
        case .url(let url): url
        case .defaultDirectory:
            Self.defaultDirectoryURL(for: name).appending(path: "\(name).strata", directoryHint: .isDirectory)
        }
    }

    /// The id of the store, which is part of the URI of each object.
    public var storeIdentifier: UUID { binding.store.identifier }

    // MARK: Contexts

    /// The context for the user interface, on the main actor. SwiftUI and `withObservationTracking` observe its
    /// objects.
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

    /// Makes a context that shows the newest state. The isolation that uses it first owns it.
    ///
    /// It traps if the store was never opened. If the newest state cannot be read, the context shows an empty store,
    /// `unreportedErrors` says why, and the next save throws it.
    ///
    /// Where another process or machine has installed a newer model, that is the last state before it.
    public func newBackgroundContext() -> sending ManagedObjectContext { makeContext() }

    private func makeContext() -> sending ManagedObjectContext {
        let binding = binding
        do {
            let pin = try binding.store.pinnedState(through: binding.schema)
            let context = ManagedObjectContext(binding: binding, at: pin.eventNumber)
            withExtendedLifetime(pin) {}
            return context
        } catch {
            let context = ManagedObjectContext(binding: binding, at: .zero)
            context.report(ManagedObjectContext.typed(error))
            return context
        }
    }

    /// Runs `body` with a new context on a thread of Strata's own, where it may block. At most 16 bodies run at once in
    /// a process; further ones wait.
    ///
    /// Changes are lost unless `body` saves them. It runs in the caller's task: when that is cancelled, its requests end,
    /// and what it saved stays saved.
    ///
    /// - Throws: what `body` throws; a request in a cancelled task throws `CancellationError`.
    public func performBackgroundTask<Result: Sendable>(
        _ body: @escaping @Sendable (ManagedObjectContext) throws -> Result
    ) async throws -> Result {
        try await WorkerThreads.shared.run { try body(self.newBackgroundContext()) }
    }

    /// Makes a context that shows the store as it was at a moment. It can be read but not changed.
    ///
    /// It shows the app's own classes, also where a migration has rewritten values since: they are converted as it
    /// converted them. What cannot be converted reads as nil, is reported when its object is read, and is thrown by
    /// `value(forKey:)`; `ManagedObjectContext.unreadableValues` lists it.
    ///
    /// - Parameter model: `.ofThen` shows entities and properties as they were at the moment.
    /// - Throws: as `eventNumber(at:)`.
    public func context(
        asOf moment: HistoryMoment, model: HistoryModel = .newest
    ) throws -> sending ManagedObjectContext {
        let binding = binding
        let eventNumber = try eventNumber(at: moment)
        let past = model == .ofThen ? try binding.ofPast(eventNumber, classes) : binding
        let converted = try past.store.convertedState(at: eventNumber, through: past.schema)
        return ManagedObjectContext(binding: past, at: eventNumber, isPast: true, converted: converted)
    }

    // MARK: Ids

    /// The URI of an object: `strata://<store UUID>/<Entity>/p<row>`.
    ///
    /// - Throws: `unknownEntity` for an id of another store's entity.
    public func uriRepresentation(of id: ObjectID) throws -> URL {
        guard let entity = binding.entity(id.entityID),
            let url = URL(string: "strata://\(storeIdentifier.uuidString)/\(id.named(entity.name))")
        else {
            throw StrataError(.unknownEntity, "The id is of no entity of this store.", context: .init(objectID: id))
        }
        return url
    }

    /// The id in an object's URI. Whether the object exists is for a context to say.
    ///
    /// - Throws: `validationInvalidURI`, also for an object of another store; `unknownEntity`.
    public func objectID(forURIRepresentation uri: URL) throws -> ObjectID {
        let parts = uri.path.split(separator: "/")
        guard uri.scheme == "strata", let host = uri.host, parts.count == 2, parts[1].hasPrefix("p"),
            let row = UInt64(parts[1].dropFirst()), row > 0, row <= ObjectID.maximumRow
        else { throw Self.invalidURI(uri, "The URI does not name an object.") }
        guard UUID(uuidString: host) == storeIdentifier else {
            throw Self.invalidURI(uri, "The URI names an object of another store.")
        }
        guard let entity = binding.entity(named: String(parts[0])) else {
            throw binding.schema.unknownEntity(String(parts[0]))
        }
        return ObjectID(entity: entity.id, row: row)
    }

    private static func invalidURI(_ uri: URL, _ message: String) -> StrataError {
        StrataError(.validationInvalidURI, message, context: .init(value: .url(uri)))
    }
}
