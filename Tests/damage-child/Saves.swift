import Foundation
import Strata

/// Saves on top of what may be damaged: new objects, links to old ones, and changes.
struct Saves {
    let container: PersistentContainer

    func run(_ count: Int) {
        var books: [ObjectID] = []
        do {
            books = try container.newBackgroundContext().fetchObjectIDs(FetchRequest<Book>()).sorted()
        } catch {
            Output.line("refused \(Readings.code(of: error))")
        }
        for number in 0..<count {
            do {
                try save(number, books)
                Output.line("saved \(number)")
            } catch {
                Output.line("refused \(Readings.code(of: error))")
            }
        }
    }

    private func save(_ number: Int, _ books: [ObjectID]) throws {
        let context = container.newBackgroundContext()
        for part in 0..<40 {
            let mark = Mark(context: context)
            (mark.text, mark.number) = ("mark \(number) \(part)", number)
            if part == 0 { mark.content = Data(repeating: UInt8(number), count: 9000) }
            guard !books.isEmpty, part % 4 == 0 else { continue }
            let id = books[(number * 397 + part * 53) % books.count]
            mark.book = try context.existingObject(with: id, as: Book.self)
            mark.book?.touched = number + part
        }
        try context.save()
    }
}
