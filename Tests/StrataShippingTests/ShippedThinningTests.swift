import Foundation
import StrataGraph
import StrataModel
import StrataStore
import Testing

@testable import StrataShipping

/// Stores that are shipped and whose entities are thinned.
@Suite struct ShippedThinningTests {
    /// What was shipped stays as it was; later transactions that lost values have a snapshot in their place.
    @Test(arguments: [true, false]) func aThinnedStoreIsShippedAndRestored(isShippedBefore: Bool) throws {
        let library = try FilmLibrary()
        let target = MemoryTarget()
        let id = try library.insertFilm("first")
        if isShippedBefore { _ = try LogShipper(library.store, target).ship() }
        let film = try library.context.existingObject(with: id.objectID)
        var early = TransactionNumber.zero
        for number in 0..<5 {
            try film.setValue("title \(number)", forKey: "title")
            try library.context.save()
            if number == 2 { early = try library.store.logPosition().transaction }
        }
        if isShippedBefore { _ = try LogShipper(library.store, target).ship() }
        library.context.reset()
        #expect(try library.container.truncateHistory(ofEntities: ["Film"], before: .now).eventCount == 6)
        try library.insertFilm("the last")
        _ = try LogShipper(library.store, target).ship()
        let (newest, _) = try library.restored(target)
        #expect(try FilmLibrary.state(of: newest) == FilmLibrary.state(of: library.container))
        #expect(try newest.verify().isSound)
        func title() throws -> String? {
            let past = try newest.context(asOf: .transaction(early))
            return try past.existingObject(with: id.objectID).value(forKey: "title") as? String
        }
        if isShippedBefore {
            #expect(try title() == "title 2")
            // The record of the thinning came with the log, and the next one drops what is left.
            #expect(try newest.store.verify().hasUnfinishedThinning)
            #expect(try newest.truncateHistory(ofEntities: ["Film"], before: .now).eventCount >= 6)
            #expect(try newest.verify().isSound)
        }
        let gone = #expect(throws: StrataError.self) { try title() }
        #expect(gone?.code == .historyDropped)
        newest.close()
        if isShippedBefore {
            let (old, _) = try library.restored(target, to: .transaction(early), as: "early.strata")
            #expect(try FilmLibrary.state(of: old).count == 1)
            #expect(try old.verify().isSound)
            old.close()
        } else {
            let error = #expect(throws: StrataError.self) {
                try library.restored(target, to: .transaction(early), as: "early.strata")
            }
            #expect(error?.code == .historyDropped)
        }
        // An erasure reaches the files at the target all the same.
        try library.container.erase([id.objectID], reason: "asked for")
        _ = try LogShipper(library.store, target).ship()
        #expect(!target.files.values.contains { $0.range(of: Data("title 2".utf8)) != nil })
        let (erased, _) = try library.restored(target, as: "erased.strata")
        #expect(try FilmLibrary.state(of: erased) == FilmLibrary.state(of: library.container))
        #expect(try erased.verify().isSound)
        erased.close()
    }
}
