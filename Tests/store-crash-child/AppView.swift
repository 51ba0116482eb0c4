import Foundation
import StrataGraph
import StrataModel
import StrataStore

/// A store as an app reads it: every object, every value, every link, and fetches by indexes.
struct AppView {
    private let container: PersistentContainer
    private static let extra = "written on top"

    init(_ directory: URL) throws {
        container = PersistentContainer(name: "Crash", model: try CrashModel.make(), at: .url(directory))
        try container.loadPersistentStores()
    }

    init(_ container: PersistentContainer) { self.container = container }

    func close() { container.close() }

    func isSound() throws -> Bool { try container.verify().isSound }

    /// A line for each object, and for each answer; what `save` adds is left out.
    func whole() throws -> [String] {
        let context = container.newBackgroundContext()
        var lines: [String] = []
        let tags = try context.fetch(FetchRequest<ManagedObject>(entityName: "Tag"))
        for tag in tags {
            guard let label = try tag.value(forKey: "label") as? String, label != Self.extra else { continue }
            lines.append("\(label): \(try numbers(tag, "movies")), \(try numbers(tag, "owned").sorted())")
        }
        for movie in try context.fetch(FetchRequest<ManagedObject>(entityName: "Movie")) {
            let picture = try movie.value(forKey: "picture") as? Data
            let owner = try movie.value(forKey: "owner") as? ManagedObject
            lines.append(
                "\(try number(movie)): \(try movie.value(forKey: "rating") as? Double ?? -1), "
                    + "\(picture.map(summary) ?? "-"), "
                    + "\(try owner?.value(forKey: "label") as? String ?? "-")")
        }
        lines.sort()
        for least in stride(from: 0, to: 40, by: 5) {
            let request = FetchRequest<ManagedObject>(entityName: "Movie")
            var asked = request
            asked.predicate = try FetchPredicate(format: "rating >= \(least)")
            lines.append("from \(least): \(try context.fetch(asked).map(number).sorted())")
        }
        return lines
    }

    private func summary(_ bytes: Data) -> String {
        let sum = stride(from: 0, to: bytes.count, by: 499).reduce(0) { $0 &* 31 &+ Int(bytes[$1]) }
        return "\(bytes.count) bytes, \(sum)"
    }

    private func number(_ movie: ManagedObject) throws -> Int {
        Int(try movie.value(forKey: "number") as? Int64 ?? -1)
    }

    private func numbers(_ tag: ManagedObject, _ key: String) throws -> [Int] {
        let members = try tag.value(forKey: key)
        if let members = members as? [ManagedObject] { return try members.map(number) }
        return try (members as? Set<ManagedObject> ?? []).map(number)
    }

    /// A few saves, each a commit.
    func save() throws {
        let context = container.newBackgroundContext()
        for _ in 0..<4 {
            let tag = try context.insertNewObject(forEntityName: "Tag")
            try tag.setValue(Self.extra, forKey: "label")
            try context.save()
        }
    }
}
