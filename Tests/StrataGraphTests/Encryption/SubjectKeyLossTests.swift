import Foundation
import Locking
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// Keys of subjects that are lost, are others than the store's, or cannot be destroyed.
@Suite struct SubjectKeyLossTests {
    private let fixture: SubjectFixture

    init() throws { fixture = try SubjectFixture() }

    /// Keys are destroyed behind the commit of the erasure: where that fails, none is gone, and where they cannot be
    /// destroyed, the store remembers them.
    @Test func keysAreDestroyedBehindTheCommitAndUntilTheyAreGone() throws {
        let keys = RefusingKeys(all: fixture.keys)
        let container = try fixture.open(keys: .some(keys))
        defer { container.close() }
        let (ann, bob) = try fixture.fill(container)
        keys.whenDestroyed.withLock { $0 = { throw StrataError(.persistentStoreOperation, "away") } }
        let result = try container.erase([ann], reason: nil)
        #expect(result.waiting.count == 1 && result.destroyedKeyCount == 0 && result.objectIDs == [ann])
        #expect(try fixture.keys.counts() == (4, 0))
        // The next one destroys both.
        let count = Locked(0)
        keys.whenDestroyed.withLock { $0 = { count.withLock { $0 += 1 } } }
        #expect(try container.finishErasures()?.destroyedKeyCount == 1)
        #expect(try fixture.keys.counts() == (3, 1) && container.finishErasures() == nil)
        keys.whenDestroyed.withLock {
            $0 = { [weak container] in
                // A crash here loses no erasure.
                if try container?.erasures().count == 2 { count.withLock { $0 += 10 } }
            }
        }
        #expect(try container.erase([bob], reason: nil).destroyedKeyCount == 1)
        #expect(count.withLock { $0 } == 11)
        #expect(try container.verify().isSound)
    }

    /// A value whose object no longer names a subject, beside one whose key is lost.
    @Test func aRotationPassesOverWhatItCannotEncryptAndNamesIt() throws {
        var container = try fixture.open()
        let context = container.newBackgroundContext()
        let (ann, bob) = try (
            context.addObject("Person", ["name": "Ann", "diagnosis": "measles"]),
            context.addObject("Person", ["name": "Bob", "diagnosis": "mumps"])
        )
        let photo = Data(repeating: 7, count: 200_000)
        let order = try context.addObject("Order", ["note": "urgent", "customer": ann])
        let card = try context.addObject("Card", ["owner": "Cy", "pin": 4711])
        try context.save()
        try ann.setValue(photo, forKey: "photo")
        try context.save()
        try order.setValue(nil, forKey: "customer")
        try card.setValue(nil, forKey: "owner")
        try context.save()
        #expect(try order.value(forKey: "note") as? String == "urgent")
        let lost = try #require(try fixture.stored(bob.objectID, "diagnosis", container)?.subject)
        container.close()
        let ids = try [StoreEncryption.keyID(of: firstKey), StoreEncryption.keyID(of: secondKey)]
        let some = SomeSubjectKeys(all: fixture.keys, lost: [lost])
        container = try fixture.open(key: secondKey, previous: [firstKey], keys: some)
        let error = thrownError { try container.rotateEncryptionKey(stepSize: 2) }
        #expect(error?.code == .encryptionKeyMissing)
        #expect(
            error?.details.map(\.context.objectID) == [bob.objectID] && error?.details.first?.context.key == "diagnosis"
        )
        #expect(try container.encryptionKeyIDs == ids.sorted())
        container.close()
        container = try fixture.open(key: secondKey, previous: [firstKey])
        #expect(try container.rotateEncryptionKey() == 1)
        #expect(try container.encryptionKeyIDs == [ids[1]])
        #expect(try container.verify().isSound)
        container.close()
        container = try fixture.open(key: secondKey)
        defer { container.close() }
        let reader = container.newBackgroundContext()
        #expect(try reader.secretTexts("Order", "note") == ["urgent"])
        #expect(try reader.secretTexts("Person", "diagnosis") == ["measles", "mumps"])
        #expect(try reader.existingObject(with: ann.objectID).value(forKey: "photo") as? Data == photo)
        #expect(try reader.objects("Card").first?.value(forKey: "pin") as? Int32 == 4711)
        // The values are still under the keys of the subjects that they had.
        try container.erase([ann.objectID], reason: nil)
        reader.reset()
        #expect(try reader.secretTexts("Order", "note") == [nil])
    }

    @Test(arguments: [true, false]) func aSecondKeyOfASubjectIsRefused(isEmpty: Bool) throws {
        var container = try fixture.open()
        let (ann, bob) = try fixture.fill(container)
        let subject = try #require(try fixture.stored(ann, "diagnosis", container)?.subject)
        container.close()
        let other = try SubjectKeyDirectory(
            at: fixture.folder.url.appending(path: "other", directoryHint: .isDirectory))
        let keys: any SubjectKeyStore = isEmpty ? other : SomeSubjectKeys(all: fixture.keys, lost: [subject])
        container = try fixture.open(keys: .some(keys))
        let context = container.newBackgroundContext()
        try context.existingObject(with: ann).setValue("gout", forKey: "diagnosis")
        let before = try fixture.keys.counts()
        #expect(thrownError { try context.save() }?.code == .encryptionKeyWrong)
        context.rollback()
        let batch = BatchUpdateRequest<ManagedObject>(
            entityName: "Person", setting: ["diagnosis": .constant(.string("gout"))])
        #expect(thrownError { try context.execute(batch) }?.code == .encryptionKeyWrong)
        #expect(try other.counts() == (0, 0) && fixture.keys.counts() == before)
        if isEmpty {
            // Also for subjects that the store does not know: the keys are not its own.
            _ = try context.addObject("Person", ["name": "Dora", "diagnosis": "flu"])
            #expect(thrownError { try context.save() }?.code == .encryptionKeyWrong)
        } else {
            try context.existingObject(with: bob).setValue("flu", forKey: "diagnosis")
            try context.save()
        }
        context.rollback()
        try keys.destroyKeys(of: [subject])
        container.close()
        container = try fixture.open()
        defer { container.close() }
        let reader = container.newBackgroundContext()
        #expect(
            try reader.existingObject(with: bob).value(forKey: "diagnosis") as? String == (isEmpty ? "measles" : "flu"))
    }
    /// The lost key is that of a subject behind thousands of objects of its entity, or of one that was saved last.
    @Test(arguments: [true, false]) func aSecondKeyIsRefusedHoweverManyObjectsThereAre(isReopened: Bool) throws {
        var container = try fixture.open()
        var context = container.newBackgroundContext()
        for number in 0..<1200 {
            _ = try context.addObject("Card", ["owner": "owner \(number)", "pin": number])
        }
        try context.save()
        let last = try context.addObject("Card", ["owner": "Zoe", "pin": 7])
        try context.save()
        let zoe = try #require(try fixture.stored(last.objectID, "pin", container)?.subject)
        let keys = SomeSubjectKeys(all: fixture.keys, lost: [zoe])
        container.close()
        container = try fixture.open(keys: .some(keys))
        defer { container.close() }
        context = container.newBackgroundContext()
        if !isReopened {
            // The walk has been made before what follows was saved.
            _ = try context.addObject("Card", ["owner": "Xaver", "pin": 1])
            try context.save()
        }
        let counts = try fixture.keys.counts()
        let second = try context.addObject("Card", ["owner": "Zoe", "pin": 8])
        #expect(thrownError { try context.save() }?.code == .encryptionKeyWrong)
        #expect(try fixture.keys.counts() == counts)
        context.delete(second)
        _ = try context.addObject("Card", ["owner": "Yann", "pin": 9])
        _ = try context.addObject("Person", ["name": "Dora", "diagnosis": "flu"])
        try context.save()
        // Where nothing is under the lost key any more, another one does no harm.
        try context.existingObject(with: last.objectID).setValue(nil, forKey: "pin")
        try context.save()
        _ = try context.addObject("Card", ["owner": "Zoe", "pin": 8])
        let error = thrown { try context.save() }
        // These keys hide the one that is there.
        #expect(error?.code != .encryptionKeyWrong, "\(String(describing: error))")
    }

    private func thrown(_ body: () throws -> Void) -> StrataError? {
        do {
            try body()
            return nil
        } catch {
            return error as? StrataError
        }
    }
}

/// The keys of a directory, of which some were lost.
private struct SomeSubjectKeys: SubjectKeyStore {
    let all: SubjectKeyDirectory
    let lost: Set<SubjectID>

    func key(of subject: SubjectID) throws -> SubjectKey? { lost.contains(subject) ? nil : try all.key(of: subject) }
    func makeKeys(of subjects: [SubjectID]) throws -> [Data] { try all.makeKeys(of: subjects) }
    func destroyKeys(of subjects: [SubjectID]) throws { try all.destroyKeys(of: subjects) }
}

/// The keys of a directory, which may refuse to destroy one.
private final class RefusingKeys: SubjectKeyStore {
    let all: SubjectKeyDirectory
    let whenDestroyed = Locked<@Sendable () throws -> Void>({})

    init(all: SubjectKeyDirectory) { self.all = all }

    func key(of subject: SubjectID) throws -> SubjectKey? { try all.key(of: subject) }
    func makeKeys(of subjects: [SubjectID]) throws -> [Data] { try all.makeKeys(of: subjects) }
    func destroyKeys(of subjects: [SubjectID]) throws {
        try whenDestroyed.withLock { $0 }()
        try all.destroyKeys(of: subjects)
    }
}
