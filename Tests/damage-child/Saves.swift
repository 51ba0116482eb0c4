import Foundation
import Strata

/// Saves on top of what may be damaged: new objects, links to old ones, and changes.
struct Saves {
    private let container: PersistentContainer
    /// How many succeeded.
    private(set) var count = 0
    /// What was thrown that is no error of Strata.
    private(set) var untyped: [String] = []

    init(_ most: Int, _ container: PersistentContainer) {
        self.container = container
        var books: [ObjectID] = []
        trying { books = try container.newBackgroundContext().fetchObjectIDs(FetchRequest<Book>()).sorted() }
        for number in 0..<most {
            if trying({ [self] in try save(number, books) }) { count += 1 }
        }
    }

    @discardableResult
    private mutating func trying(_ work: () throws -> Void) -> Bool {
        do {
            try work()
            return true
        } catch is StrataError {
            return false
        } catch {
            untyped.append("\(error)")
            return false
        }
    }

    private func save(_ number: Int, _ books: [ObjectID]) throws {
        let context = container.newBackgroundContext()
        for part in 0..<40 {
            let mark = Mark(context: context)
            (mark.text, mark.number) = ("mark \(number) \(part)", number)
            // Not zeros, which a page has that lost its content.
            if part == 0 { mark.content = Data(repeating: UInt8(number + 1), count: 9000) }
            guard !books.isEmpty, part % 4 == 0 else { continue }
            let id = books[(number * 397 + part * 53) % books.count]
            mark.book = try context.existingObject(with: id, as: Book.self)
            mark.book?.touched = number + part
        }
        try context.save()
    }
}
