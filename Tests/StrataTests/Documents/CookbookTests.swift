import Foundation
import Strata
import Testing

/// The recipes of the cookbook, as they stand there, each on a store of three books.
@Suite struct CookbookTests {
    @Entity final class Book: ManagedObject {
        @Attribute(.unique) var isbn: String
        @Attribute(.indexed(.caseInsensitive)) var title: String
        @Attribute(.range(0...)) var price: Decimal = 0
        var year: Int = 0
        var state: LendingState = .available
        var added: Date?
        @Attribute(.externalStorage) var cover: Data?
        var author: Author?
        var shelf: Shelf?

        override func awakeFromInsert() { added = .now }
    }

    @Entity final class Author: ManagedObject {
        @Attribute(.indexed) var name: String
        @Relationship(deleteRule: .deny, inverse: \Book.author) var books: ToMany<Book>
        @Attribute(.derived("books.@count")) private(set) var bookCount: Int = 0
    }

    @Entity(.check(.greaterThan("room", 0), message: "A shelf has room.")) final class Shelf: ManagedObject {
        var name: String
        var room: Int = 10
        @Relationship(inverse: \Book.shelf, .ordered) var books: ToMany<Book>
    }

    enum LendingState: String, Sendable { case available, lent, lost }

    let container: PersistentContainer
    let context: ManagedObjectContext

    init() throws {
        container = try makeOpenContainer([Book.self, Author.self, Shelf.self])
        context = container.newBackgroundContext()
        let lem = Author(context: context)
        lem.name = "Lem"
        let brothers = Author(context: context)
        brothers.name = "Strugatsky"
        let shelf = Shelf(context: context)
        shelf.name = "Front"
        add("978-1", "Solaris", by: lem)
        let invincible = add("978-2", "The Invincible", by: lem)
        invincible.year = 1964
        invincible.shelf = shelf
        add("978-3", "Roadside Picnic", by: brothers).price = 15
        try context.save()
    }

    @discardableResult
    private func add(_ isbn: String, _ title: String, by author: Author) -> Book {
        let book = Book(context: context)
        book.isbn = isbn
        book.title = title
        book.price = 10
        book.year = 1972
        book.author = author
        return book
    }

    private func book(_ isbn: String) throws -> Book {
        try #require(try context.fetch(FetchRequest<Book>().where { $0.isbn == isbn }).first)
    }

    private func shelf() throws -> Shelf { try #require(try context.fetch(FetchRequest<Shelf>()).first) }

    private func author() throws -> Author {
        try #require(try context.fetch(FetchRequest<Author>().where { $0.name == "Lem" }).first)
    }

    @Test func findOrMake() throws {
        func author(named name: String, in context: ManagedObjectContext) throws -> Author {
            if let author = try context.object(Author.self, where: \.name, is: name) { return author }
            let author = Author(context: context)
            author.name = name
            return author
        }
        let lem = try author(named: "Lem", in: context)
        #expect(lem == (try author(named: "Lem", in: context)))
        #expect(lem.books.count == 2)
    }

    @Test func upsert() throws {
        let rows: [[String: AttributeValue]] = [
            ["isbn": "978-1", "title": "Solaris", "year": 1961],  // the store has 978-1: it is updated
            ["isbn": "978-9", "title": "Fiasco", "year": 1986],  // new
        ]
        let result = try context.execute(BatchInsertRequest<Book>(rows, onClash: .merge))
        print(result.count, "rows,", result.mergedCount, "of them merged")
        #expect(result.count == 2)
        #expect(result.mergedCount == 1)
        #expect(try book("978-1").year == 1961)
    }

    @Test func fillOnce() throws {
        for _ in 0..<2 {
            if try container.metadata["filled"] == nil {
                let books: [[String: AttributeValue]] = [
                    ["isbn": "978-5", "title": "Eden"], ["isbn": "978-6", "title": "Fiasco"],
                ]
                try context.execute(BatchInsertRequest<Book>(books, onClash: .keep))
                try container.setMetadata(true, forKey: "filled")
            }
        }
        #expect(try context.count(for: FetchRequest<Book>()) == 5)
    }

    @Test func importJSON() throws {
        let json = Data(#"[{"isbn": "978-1", "title": "Solaris", "year": 1961, "author": "Lem"}]"#.utf8)
        for record in try JSONSerialization.jsonObject(with: json) as? [[String: Any]] ?? [] {
            let book = Book(context: context)
            try book.setValuesForKeys(record.filter { $0.key != "author" })
            let name = record["author"] as? String ?? ""
            book.author = try context.fetch(FetchRequest<Author>().where { $0.name == name }).first
        }
        context.mergePolicy = .mergeByPropertyObjectTrump  // a book with a known isbn is updated
        try context.save()
        #expect(try book("978-1").year == 1961 && context.count(for: FetchRequest<Book>()) == 3)
    }

    @Test func importStream() async throws {
        var request = BatchInsertRequest<Book>(onClash: .merge)
        request.stepSize = 5_000  // rows of one transaction
        let stream = AsyncStream<[String: AttributeValue]> { feed in
            for number in 1...12_000 { feed.yield(["isbn": .string("feed-\(number)"), "title": "A book"]) }
            feed.finish()
        }
        let result = try await context.execute(request, rows: stream)
        print(result.transactionCount, "transactions")
        #expect(result.count == 12_000)
        #expect(result.transactionCount == 3)
    }

    @Test func searchText() throws {
        let any = try FetchRequest<Book>().where {
            $0.title.contains("sol", [.caseInsensitive, .diacriticInsensitive])
        }
        let beginning = try FetchRequest<Book>().where { $0.title.begins(with: "SOL", [.caseInsensitive]) }
        #expect(try context.fetch(any) == [try book("978-1")])
        #expect(try context.fetch(beginning) == [try book("978-1")])
        #expect(try context.explain(beginning).description.contains("index"))
    }

    @Test func askAcross() throws {
        let byLem = try FetchRequest<Book>().where { $0.author.name == "Lem" && $0.shelf == nil }
        let busy = try FetchRequest<Author>().where { $0.books.count >= 2 && $0.books.any { $0.year < 1970 } }
        #expect(try context.count(for: byLem) == 1)
        #expect(try context.fetch(busy).map(\.name) == ["Lem"])
    }

    @Test func onePage() throws {
        let request = try FetchRequest<Book>()
            .sorted(by: \.author?.name).sorted(by: \.title)
            .limited(to: 20, offset: 40)
        let page = try context.fetch(request)
        #expect(page.isEmpty)
        #expect(
            try context.fetch(request.limited(to: 20)).map(\.title) == ["Solaris", "The Invincible", "Roadside Picnic"])
    }

    @Test func followingPages() throws {
        for number in 1...25 { add("978-\(100 + number)", "Volume \(number)", by: try author()) }
        try context.save()
        let first = try context.fetch(FetchRequest<Book>().sorted(by: \.isbn).limited(to: 20))
        let last = first.last?.isbn ?? ""
        let next = try context.fetch(FetchRequest<Book>().where { $0.isbn > last }.sorted(by: \.isbn).limited(to: 20))
        #expect(first.count == 20)
        #expect(try first + next == context.fetch(FetchRequest<Book>().sorted(by: \.isbn)))
    }

    @Test func walkMany() throws {
        var request = try FetchRequest<Book>().sorted(by: \.title)
        request.fetchBatchSize = 500
        var total = Decimal()
        for book in try context.fetchInBatches(request) { total += book.price }
        #expect(total == 35)
    }

    @Test func countObjects() throws {
        let cheap = try FetchRequest<Book>().where { $0.price < 12 }
        let number = try context.count(for: cheap)
        let isThereOne = try !context.fetchObjectIDs(cheap.limited(to: 1)).isEmpty
        #expect(number == 2)
        #expect(isThereOne)
    }

    @Test func groupAndSum() throws {
        let request = try RowsFetchRequest(
            of: Book.self,
            columns: [
                OutputColumn("author.name"),
                OutputColumn("books", .function(.count, [.evaluatedObject])),
                OutputColumn("worth", .function(.sum, [.keyPath("price")])),
            ],
            groupBy: ["author.name"])
        for row in try context.fetchRows(request).dictionaries { print(row) }
        let rows = try context.fetchRows(request).dictionaries
        #expect(rows.count == 2)
        #expect(rows.contains { $0["author.name"] == "Lem" && $0["books"] == 2 && $0["worth"] == .decimal(20) })
    }

    @Test func totals() throws {
        let totals = try context.fetchRows(
            RowsFetchRequest(of: Book.self, columns: [OutputColumn("mean", .function(.average, [.keyPath("price")]))]))
        print(totals.dictionaries[0]["mean"] ?? .null)
        #expect(totals.dictionaries.count == 1)
        guard case .decimal(let mean)? = totals.dictionaries[0]["mean"] else { Issue.record("no mean"); return }
        #expect(abs(mean - Decimal(35) / 3) < 0.001)
    }

    @Test func explainRequest() throws {
        let request = try FetchRequest<Book>().where { $0.isbn == "978-1" }
        print(try context.explain(request))  // names the index, and the rows of each step
        #expect(try context.explain(request).description.contains("index"))
    }

    @Test func orderMembers() throws {
        let book = try book("978-1")
        let shelf = try self.shelf()
        shelf.books.append(book)  // at the end
        shelf.books.insert(book, at: 0)  // moves it to the front: it is a member once
        shelf.books.move(from: 0, to: shelf.books.count - 1)
        try context.save()
        #expect(shelf.books.map(\.isbn) == ["978-2", "978-1"])
    }

    @Test func refuseValues() throws {
        let book = try book("978-1")
        let shelf = try self.shelf()
        book.price = -1
        shelf.room = 0
        do {
            try context.save()
        } catch let error as StrataError {
            let problems = error.details.isEmpty ? [error] : error.details
            for problem in problems { print(problem.code, problem.context.entityName ?? "", problem.context.key ?? "") }
            context.rollback()  // or let the user correct the values and save again
        }
        #expect(book.price == 10)
        #expect(shelf.room == 10)
        #expect(!context.hasChanges)
    }

    @Test func denyDelete() throws {
        let author = try author()
        context.delete(author)
        do {
            try context.save()
        } catch let error as StrataError where error.code == .validationRelationshipDeniedDelete {
            context.rollback()  // the author still has books
        }
        #expect(!author.isDeleted)
        #expect(!context.hasChanges)
    }

    @Test func deleteMatching() throws {
        try book("978-3").state = .lost
        try context.save()
        let result = try context.execute(BatchDeleteRequest<Book>().where { $0.state == .lost })
        print(result.count, "books deleted")
        #expect(result.count == 1)
        #expect(try context.count(for: FetchRequest<Book>()) == 2)
    }

    @Test func lastWriterWins() throws {
        let book = try book("978-1")
        let others = container.newBackgroundContext()
        try others.existingObject(with: book.objectID, as: Book.self).title = "Soljaris"
        try others.save()
        context.mergePolicy = .mergeByPropertyObjectTrump
        book.title = "Solaris, a novel"
        try context.save()  // also if another context changed the title meanwhile
        let newest = try container.history(of: book.objectID)[0].transaction
        for record in newest.conflicts { print(record.conflict, record.winner) }
        #expect(newest.conflicts.count == 1)
        #expect(book.title == "Solaris, a novel")
    }

    @Test func saveExpecting() throws {
        let book = try book("978-1")
        let others = container.newBackgroundContext()
        try others.existingObject(with: book.objectID, as: Book.self).title = "Soljaris"
        try others.save()
        let seen = try context.revision(of: book)
        book.state = .lent
        do {
            try context.save(expecting: [book.objectID: seen])
        } catch let error as StrataError where error.code == .persistentStoreSaveConflicts {
            context.rollback()
            context.refreshAllObjects()  // look at the newest state, and decide again
        }
        #expect(book.state == .available)
        #expect(book.title == "Soljaris")
    }

    @Test func editInChild() throws {
        let book = try book("978-1")
        let form = try context.newChildContext()
        let draft = try form.existingObject(with: book.objectID, as: Book.self)
        draft.title = "Solaris (1961)"
        try form.save()  // "OK": the change is in `context`, not yet in the store
        try context.save()  // now it is in the store
        #expect(book.title == "Solaris (1961)")
    }

    @Test func undoRedo() throws {
        let book = try book("978-1")
        context.undoManager = ObjectUndoManager()
        book.state = .lent
        context.processPendingChanges()  // ends the group: one event of the user
        try context.undoManager?.undo()
        try context.undoManager?.redo()
        #expect(book.state == .lent)
        try context.undoManager?.undo()
        #expect(book.state == .available)
    }

    @Test func workElsewhere() async throws {
        let titles = try await container.performBackgroundTask { context in
            try context.fetch(FetchRequest<Book>().sorted(by: \.title)).map(\.title)
        }
        #expect(titles == ["Roadside Picnic", "Solaris", "The Invincible"])
    }

    @Test func whoChanged() throws {
        let book = try book("978-1")
        context.transactionAuthor = "ann"
        context.transactionReason = "The first edition is from 1961."
        book.year = 1961
        try context.save()

        for event in try container.history(of: book.objectID) {
            print(event.date, event.author ?? "-", event.transaction.reason ?? "-")
            for change in event.changes { print("   ", change.key, change.before, change.after) }
        }
        let cause = try container.blame(book.objectID)["year"]
        #expect(cause?.author == "ann")
    }

    @Test func undelete() throws {
        let book = try book("978-3")
        let id = book.objectID
        context.delete(book)
        try context.save()

        print(try container.deletedObject(id)?.values["title"] ?? "-")  // its last values are still there
        let lastChange = try container.history(of: id)[1]  // [0] is the deletion
        try context.restore(id, at: lastChange.eventNumber)  // under its own id
        try context.save()
        #expect(try context.existingObject(with: id, as: Book.self).title == "Roadside Picnic")
    }

    @Test func takeBack() throws {
        try container.setTag("before import")
        try context.execute(BatchInsertRequest<Book>([["isbn": "978-8", "title": "Not ours"]]))

        let tagged = try container.eventNumber(at: .tag("before import"))
        for transaction in try container.transactions().reversed() where transaction.firstEvent > tagged {
            try context.revert(transaction.number)
        }
        try context.save()
        #expect(try context.count(for: FetchRequest<Book>()) == 3)
    }

    @Test func subscribe() async throws {
        _ = try container.subscription(named: "mailer")
        context.name = "the last"
        try book("978-1").state = .lent
        try context.save()
        let mailer = try container.subscription(named: "mailer")  // begins at the newest state when it is new
        for try await change in try mailer.transactions() {
            for object in try change.changes() where object.entityName == "Book" { print(object.kind, object.objectID) }
            try mailer.acknowledge(change.token)
            if change.transaction.contextName == "the last" { break }
        }
        #expect(try mailer.acknowledged() == container.currentHistoryToken())
    }

    @Test func backUp() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "Cookbook-\(UUID().uuidString).strata")
        defer { try? FileManager.default.removeItem(at: directory) }
        try container.backup(to: directory)  // a verified copy: a store of its own
        let copy = try PersistentContainer(
            name: "Copy", entities: [Book.self, Author.self, Shelf.self], at: .url(directory),
            options: .init(isReadOnly: true))
        try copy.loadPersistentStores()
        print(try copy.verify().isSound)
        #expect(try copy.newBackgroundContext().count(for: FetchRequest<Book>()) == 3)
        copy.close()
    }
}
