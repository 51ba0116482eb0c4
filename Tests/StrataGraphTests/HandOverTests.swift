import Foundation
import Testing

/// Hands contexts and objects over in source files of their own and asks the compiler what it thinks.
@Suite(.verifiesStores) struct HandOverTests {
    @Test(arguments: ["", "-enable-upcoming-feature NonisolatedNonsendingByDefault", "-default-isolation MainActor"])
    func goodHandOversCompile(_ options: String) throws {
        let errors = try Compiler().errors(in: goodSource, options)
        #expect(errors.isEmpty)
    }

    // The checks of types come before those of flow, so that each kind needs a file.
    @Test(arguments: ["", "-enable-upcoming-feature NonisolatedNonsendingByDefault"])
    func wrongHandOversDoNotCompile(_ options: String) throws {
        for source in [wrongTypes, wrongFlow] {
            let errors = try Compiler().errors(in: source, options)
            let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
            let marked = lines.indices.filter { lines[$0].hasSuffix("// refused") }.map { $0 + 1 }
            #expect(Set(errors.map(\.line)) == Set(marked), "\(errors)")
        }
    }

    @Test func theRefusalSaysWhatToDo() throws {
        let errors = try Compiler().errors(in: wrongTypes, "")
        #expect(errors.contains { $0.text.contains("stays in the isolation of its context; send its objectID.") })
        #expect(errors.contains { $0.text.contains("hand it over with sending, or use an actor.") })
    }
}

/// Runs the compiler over a source file with the modules of this build.
private struct Compiler {
    struct Failure {
        let line: Int
        let text: String
    }

    private let modules: URL
    private let checksumMap: URL
    private let root: URL

    init() {
        let products = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        modules = products.appending(path: "Modules", directoryHint: .isDirectory)
        checksumMap = products.appending(path: "CChecksum.build/module.modulemap")
        root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
    }

    func errors(in source: String, _ options: String) throws -> [Failure] {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).swift")
        try Data(source.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            ["swiftc", "-swift-version", "6", "-I", modules.path(percentEncoded: false), "-Xcc"]
            + ["-fmodule-map-file=\(root.path(percentEncoded: false))Sources/CLMDB/module.modulemap", "-Xcc"]
            + ["-fmodule-map-file=\(checksumMap.path(percentEncoded: false))"]
            + options.split(separator: " ").map(String.init)
            + ["-emit-sil", "-o", "/dev/null", file.path(percentEncoded: false)]
        let pipe = Pipe()
        process.standardError = pipe
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let failures = output.split(separator: "\n").compactMap { line -> Failure? in
            let parts = line.split(separator: ":", maxSplits: 4).map(String.init)
            guard parts.count == 5, parts[3] == " error", let number = Int(parts[1]) else { return nil }
            return Failure(line: number, text: parts[4])
        }
        // A compiler that failed for another reason has proved nothing.
        if failures.isEmpty, process.terminationStatus != 0 { Issue.record("The compiler failed: \(output)") }
        return failures
    }
}

private let goodSource = """
    import StrataGraph
    import StrataModel

    func background(_ container: PersistentContainer) async throws -> Int {
        try await container.performBackgroundTask { context in
            _ = try context.insertNewObject(forEntityName: "Movie")
            try context.save()
            return try context.count(for: FetchRequest<ManagedObject>(entityName: "Movie"))
        }
    }

    @MainActor func view(_ container: PersistentContainer) throws -> [ObjectID] {
        try container.viewContext.fetchObjectIDs(FetchRequest<ManagedObject>(entityName: "Movie"))
    }

    @MainActor func byID(_ container: PersistentContainer) async throws {
        let id = try await container.performBackgroundTask { context in
            let object = try context.insertNewObject(forEntityName: "Movie")
            try context.save()
            return object.objectID
        }
        _ = container.viewContext.object(with: id)
    }

    actor Importer {
        private let context: ManagedObjectContext

        init(_ container: PersistentContainer) { context = container.newBackgroundContext() }

        func add() throws {
            _ = try context.insertNewObject(forEntityName: "Movie")
            try context.save()
        }
    }

    func adopted(_ container: PersistentContainer) async throws -> Int {
        let actor = ContextActor(adopting: container.newBackgroundContext())
        return try await actor.perform { try $0.count(for: FetchRequest<ManagedObject>(entityName: "Movie")) }
    }

    func handedOver(_ container: PersistentContainer) async {
        let context = container.newBackgroundContext()
        await MainActor.run { context.name = "main now" }
    }

    func inATask(_ container: PersistentContainer) {
        Task {
            let context = container.newBackgroundContext()
            context.perform { context.name = "x" }
            try context.save()
        }
    }

    nonisolated(nonsending) func helper(_ context: ManagedObjectContext) async throws {
        await context.perform { context.name = "y" }
        try context.performAndWait { try context.save() }
    }

    @MainActor func callsHelper(_ container: PersistentContainer) async throws {
        try await helper(container.viewContext)
    }

    func past(_ container: PersistentContainer) throws {
        let context = try container.context(asOf: .event(.zero))
        _ = context.hasChanges
    }

    func requestsAreSendable(
        _ request: FetchRequest<ManagedObject>, _ container: PersistentContainer
    ) async throws -> Int {
        try await container.performBackgroundTask { try $0.count(for: request) }
    }
    """

private let wrongTypes = """
    import StrataGraph
    import StrataModel

    func sendable<T: Sendable>(_ value: T) {}

    func objects(_ object: ManagedObject, _ context: ManagedObjectContext) {
        sendable(object)  // refused
        sendable(context)  // refused
    }

    func captured(_ object: ManagedObject) {
        let body: @Sendable () -> Void = { print(object.objectID) }  // refused
        body()
    }

    func leaving(_ container: PersistentContainer) async throws {
        _ = try await container.performBackgroundTask { context in  // refused
            try context.insertNewObject(forEntityName: "Movie")
        }
    }

    func fromOutside(_ container: PersistentContainer) async throws {
        _ = container.viewContext.hasChanges  // refused
    }
    """

private let wrongFlow = """
    import StrataGraph
    import StrataModel

    func usedAfterAdoption(_ container: PersistentContainer) async {
        let context = container.newBackgroundContext()
        let actor = ContextActor(adopting: context)  // refused
        _ = context.hasChanges
        _ = actor
    }

    func usedOnTwoSides(_ container: PersistentContainer) async {
        let context = container.newBackgroundContext()
        let task = Task { _ = context.hasChanges }  // refused
        _ = context.hasChanges
        await task.value
    }

    func objectFollowsItsContext(_ container: PersistentContainer) async throws {
        let context = container.newBackgroundContext()
        let object = try context.insertNewObject(forEntityName: "Movie")
        let actor = ContextActor(adopting: context)  // refused
        _ = object.isFault
        _ = actor
    }

    @MainActor func handedAway(_ container: PersistentContainer) {
        let actor = ContextActor(adopting: container.viewContext)  // refused
        _ = actor
    }

    func parameter(_ context: ManagedObjectContext) {
        Task { _ = context.hasChanges }  // refused
    }
    """
