import Foundation
import StrataModel
import StrataStore
import Testing

/// Erasures in stores that follow another log.
@Suite struct ReceivedErasureTests {
    @Test func anErasureIsMadeInTheStoresThatFollow() throws {
        let folder = try ErasureFolder()
        let fixture = try StoreFixture(.inMemory, model: try ErasureFixture.model())
        var ids: [ObjectID] = []
        for person in 0..<20 {
            ids.append(
                try fixture.insert(
                    "Person", ["name": .string("SecretName\(person)"), "code": .string("SecretCode\(person)")]))
        }
        let store = fixture.store
        func ship(to copy: Store) throws {
            try copy.receive(try store.frames(after: try copy.logPosition().transaction, limitInBytes: .max))
            #expect(try copy.logPosition() == store.logPosition())
        }
        let first = try store.frames(after: .zero, through: TransactionNumber(rawValue: 3), limitInBytes: .max)
        try Store.makeReplica(of: try store.logPosition(), at: folder.store, beginningWith: first)
        let copy = try Store.open(.directory(folder.store), model: nil)
        try ship(to: copy)
        #expect(try folder.scan(for: ["Secret", "secret", "SECRET"])["data.mdb"] ?? 0 > 20)
        _ = try store.erase(ErasureRequest(objects: Array(ids[..<10]), note: ErasureFixture.note()))
        var names = ErasureRequest(objects: Array(ids[10...]), note: ErasureFixture.note())
        names.attributes = ["name"]
        _ = try store.erase(names)
        try ship(to: copy)
        #expect(try folder.scan(for: ["SecretName", "secretname", "SECRETNAME"]) == [:])
        let codes = try folder.scan(for: ["SecretCode1"])
        #expect(codes["data.mdb"] ?? 0 > 0)
        let verified = try copy.verify()
        #expect(verified.isSound, "\(verified.problems)")
        #expect(verified.erasures.count == 2)
        #expect(try copy.rebuild().isUnchanged)
        copy.close()
        // One that begins after the erasures never has the values.
        let late = folder.url.appending(component: "Late.strata", directoryHint: .isDirectory)
        try Store.makeReplica(
            of: try store.logPosition(), at: late, beginningWith: try store.frames(after: .zero, limitInBytes: .max))
        let second = try Store.open(.directory(late), model: nil)
        #expect(try second.logPosition() == store.logPosition())
        let again = try second.verify()
        #expect(again.isSound && again.erasures.count == 2, "\(again.problems)")
        second.close()
    }
}
