import Foundation
import StrataModel
import StrataTestSupport

@testable import StrataCoreData
@testable import StrataStore

/// The same texts in Strata and in a table of SQLite's FTS5.
final class FTS5Texts {
    static let isThere: Bool = {
        guard ProcessInfo.processInfo.environment["STRATA_CORPUS"] != nil else { return false }
        let path = FileManager.default.temporaryDirectory.appending(path: "fts-\(UUID().uuidString)")
            .path(percentEncoded: false)
        defer { try? FileManager.default.removeItem(atPath: path) }
        do {
            try SQLiteWriter(path).run("CREATE VIRTUAL TABLE t USING fts5(x)")
            return true
        } catch {
            return false
        }
    }()

    let store: Store
    let film: EntityID
    /// By row number in SQLite, from 1.
    private(set) var ids: [ObjectID] = []
    let texts: [(title: String, plot: String)]
    private let directory: URL
    private let database: SQLiteDatabase

    /// - Parameter isCut: whether SQLite is given the words that Strata cuts, each as one word of hexadecimal digits.
    init(isCut: Bool) throws {
        texts = try Self.realTexts()
        directory = FileManager.default.temporaryDirectory.appending(path: "fts-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Film",
                properties: [
                    .attribute(AttributeDescription(name: "title", type: .string)),
                    .attribute(AttributeDescription(name: "plot", type: .string)),
                ], fullText: ["title", "plot"])
        ])
        store = try Store.open(.inMemory, model: model)
        guard let entity = store.schema.entity(named: "Film") else { throw StrataError(.unknownEntity, "Film") }
        film = entity.id
        let path = directory.appending(path: "texts.sqlite").path(percentEncoded: false)
        let writer = try SQLiteWriter(path)
        try writer.run("CREATE VIRTUAL TABLE t USING fts5(title, plot)")
        try writer.run("BEGIN")
        let insertion = try writer.prepare("INSERT INTO t (rowid, title, plot) VALUES (?, ?, ?)")
        var changes = ChangeSet(base: try store.head(), modelVersion: store.schema.version)
        for (number, text) in texts.enumerated() {
            let id = try store.newObjectID(in: film)
            ids.append(id)
            var builder = RowBuilder(entity.layout)
            for (name, value) in [("title", text.title), ("plot", text.plot)] {
                guard let slot = entity.property(named: name)?.slot else { continue }
                try builder.set(slot, .string(value))
            }
            changes.insertions.append(.init(id: id, image: try builder.finish()))
            let title = isCut ? Self.cut(text.title) : text.title
            let plot = isCut ? Self.cut(text.plot) : text.plot
            try insertion.run([.integer(Int64(number + 1)), .text(title), .text(plot)])
        }
        _ = try store.save(changes)
        try writer.run("COMMIT")
        writer.close()
        database = try SQLiteDatabase(path, .immutable, named: path, try SQLiteLibrary.shared.get())
    }

    deinit {
        store.close()
        try? FileManager.default.removeItem(at: directory)
    }

    /// The objects that SQLite finds, with their ranks; those of FTS5 are negative.
    func found(bySQLite query: String) throws -> [ObjectID: Double] {
        let text = query.replacing("'", with: "''")
        let statement = try database.prepare("SELECT rowid, bm25(t) FROM t WHERE t MATCH '\(text)'")
        var found: [ObjectID: Double] = [:]
        while try statement.step() { found[ids[Int(statement.integer(0)) - 1]] = -statement.double(1) }
        return found
    }

    func found(byStrata query: String) throws -> [ObjectID: Double] {
        try store.read(at: store.head()) { snapshot in
            guard let text = try IndexMap.of(snapshot.schema).texts.text(of: film) else { return [:] }
            let query = try FullTextQuery(query)
            let result = try snapshot.search(query, text, columns: text.columns(of: query, only: nil), ranked: true)
            return Dictionary(uniqueKeysWithValues: zip(result.ids, result.ranks))
        }
    }

    // MARK: Words

    static func terms(_ text: String) -> [String] {
        var terms = TextTerms()
        var list: [String] = []
        terms.forEach(in: text) { term, _ in
            list.append(String(decoding: term, as: UTF8.self))
            return true
        }
        return list
    }

    /// A word of letters and digits that stands for a term, and whose beginnings stand for the term's beginnings.
    static func hex(_ term: String) -> String {
        "x" + term.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    static func cut(_ text: String) -> String { terms(text).map(hex).joined(separator: " ") }

    /// Lines of the files that others wrote, in two parts.
    private static func realTexts() throws -> [(title: String, plot: String)] {
        guard let folder = ProcessInfo.processInfo.environment["STRATA_CORPUS"] else { return [] }
        let root = URL(filePath: folder)
        let files = (FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)?.allObjects ?? [])
            .compactMap { $0 as? URL }.filter { ["txt", "md", "", "xml"].contains($0.pathExtension) }
            .sorted { $0.path < $1.path }
        var texts: [(title: String, plot: String)] = []
        for file in files where texts.count < 5_000 {
            guard let data = try? Data(contentsOf: file) else { continue }
            for line in String(decoding: data, as: UTF8.self).split(separator: "\n").prefix(1_500) {
                let words = line.split(separator: " ")
                guard words.count > 3 else { continue }
                texts.append((words.prefix(3).joined(separator: " "), words.dropFirst(3).joined(separator: " ")))
            }
        }
        return texts
    }
}
