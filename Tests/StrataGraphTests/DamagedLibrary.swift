import Foundation
import LMDB
import StrataModel
import Testing

@testable import StrataGraph
@testable import StrataStore

/// An owner of 300 films in a store on disk. All pages of one table are zeros.
final class DamagedLibrary {
    enum Part {
        case objects, links, log
    }

    let directory = URL.temporaryDirectory.appending(component: "pages-\(UUID().uuidString).strata")
    let container: PersistentContainer
    let context: ManagedObjectContext
    let owner: FamilyMember
    /// The pages that are damaged.
    let pages: [UInt64]

    init(damaging part: Part, options: PersistentStoreOptions = .init()) throws {
        let first = try Self.open(directory, .init())
        let writer = first.newBackgroundContext()
        let made = FamilyMember(context: writer)
        made.name = "Anna"
        for number in 0..<300 {
            let movie = Movie(context: writer)
            movie.title = "film \(number)"
            movie.familyMember = made
        }
        try writer.save()
        let file = writer.binding.store.file
        let transaction = try file.environment.beginWrite()
        let table =
            switch part {
            case .links: file.tables.links.main
            case .objects: file.tables.objects
            case .log: file.tables.events
            }
        pages = try transaction.pagesOf([table])
        transaction.abort()
        first.close()
        let handle = try FileHandle(forWritingTo: directory.appending(component: "data.mdb"))
        for page in pages {
            try handle.seek(toOffset: page * 4096)
            try handle.write(contentsOf: Data(count: 4096))
        }
        try handle.close()
        container = try Self.open(directory, options)
        context = container.newBackgroundContext()
        owner = try #require(context.object(with: made.objectID) as? FamilyMember)
    }

    deinit {
        container.close()
        try? FileManager.default.removeItem(at: directory)
    }

    private static func open(_ directory: URL, _ options: PersistentStoreOptions) throws -> PersistentContainer {
        let container = try PersistentContainer(
            name: "Damaged", entities: [Movie.self, FamilyMember.self, Hooked.self], at: .url(directory),
            options: options)
        try container.loadPersistentStores()
        return container
    }
}

func expectDamage(_ body: () throws -> Void) {
    let error = #expect(throws: StrataError.self) { try body() }
    #expect(error?.code == .corrupt && "\(error as Any)".contains("page "), "\(error as Any)")
}
