import Foundation
import StrataGraph
import StrataModel
import Testing

/// Orders as apps ask for them, over what is stored and over what is not saved.
@Suite(.verifiesStores) struct OrderPortingTests {
    /// An entity, the keys with a minus before descending ones, and the names in their order.
    private static let orders: [(entity: String, keys: String, expected: String)] = [
        ("Book", "pages", "Alpha,Beta,Gamma,Delta,alphabet,Été"),
        ("Book", "name", "Alpha,Beta,Delta,Gamma,alphabet,Été"),
        ("Book", "price", "Gamma,Alpha,Beta,Delta,alphabet,Été"),
        ("Book", "-price", "Été,alphabet,Delta,Beta,Alpha,Gamma"),
        ("Book", "genre -name", "Delta,Alpha,alphabet,Beta,Été,Gamma"),
        ("Book", "-genre pages", "Gamma,Été,Beta,alphabet,Alpha,Delta"),
        ("Book", "author.name pages", "alphabet,Été,Alpha,Beta,Delta,Gamma"),
        ("Book", "-author.name -pages", "Gamma,Delta,Beta,Alpha,Été,alphabet"),
        ("Book", "author.mentor.name name", "Alpha,Beta,alphabet,Été,Gamma,Delta"),
        ("Book", "-fans.@count name", "Gamma,Delta,Alpha,Beta,alphabet,Été"),
        ("Author", "-books.@count name", "Ann,Dora,bob,Çelik"),
        ("Author", "active name", "bob,Ann,Dora,Çelik"),
        ("Author", "score name", "Dora,Çelik,Ann,bob"),
        ("Author", "email", "bob,Dora,Çelik,Ann"),
        ("Author", "spouse.name name", "Dora,Çelik,bob,Ann"),
        ("Person", "age name", "Çelik,Rita,bob,Ann,Dora"),
    ]

    private static func descriptions(_ keys: String) -> [SortDescription] {
        keys.split(separator: " ").map { key in
            key.hasPrefix("-")
                ? SortDescription(String(key.dropFirst()), isAscending: false) : SortDescription(String(key))
        }
    }

    private func names(_ objects: [ManagedObject]) throws -> String {
        try objects.map { try $0.text() ?? "-" }.joined(separator: ",")
    }

    @Test(arguments: [true, false]) func ordersOverAttributesLinksAndCounts(isSaved: Bool) throws {
        let context = try Porting.container(PortedLibrary.entities).newBackgroundContext()
        try PortedLibrary.fill(context)
        if isSaved { try context.save() }
        for (entity, keys, expected) in Self.orders {
            let order = Self.descriptions(keys)
            #expect(try names(context.find(entity, sortedBy: order)) == expected, "\(entity) by \(keys)")
            let part = expected.split(separator: ",").dropFirst().prefix(2).joined(separator: ",")
            #expect(try names(context.find(entity, sortedBy: order, limit: 2, offset: 1)) == part, "\(keys)")
        }
    }

    @Test func anOrderByAnotherOperatorThanACountSaysWhatToDo() throws {
        let context = try Porting.container(PortedLibrary.entities).newBackgroundContext()
        for key in ["books.@sum.pages", "books.@max.pages"] {
            let error = try #require(throws: StrataError.self) {
                try context.find("Author", sortedBy: [SortDescription(key)])
            }
            #expect(error.code == .invalidRequest && error.message.contains(key))
            #expect(error.message.contains("derived attribute"))
        }
        #expect(throws: StrataError.self) { try context.find("Author", sortedBy: [SortDescription("books.name")]) }
    }
}
