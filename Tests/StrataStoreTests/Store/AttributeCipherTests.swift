import Crypto
import Foundation
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataStore

/// The bytes of encrypted values, without a store.
@Suite struct AttributeCipherTests {
    private static let secret = Data((0..<32).map { UInt8($0) })
    private static let object = ObjectID(entity: EntityID(rawValue: 3), row: 5)

    private func keyRing(_ secrets: [Data] = [secret]) throws -> KeyRing {
        let ring = KeyRing()
        ring.table.take(try secrets.map { secret in try EncryptionKey(secret) })
        ring.table.take(blindingKey: SymmetricKey(data: Data(repeating: 9, count: 32)))
        return ring
    }

    private func cipher(_ ring: KeyRing, _ type: AttributeType = .string, number: UInt32 = 7) -> AttributeCipher {
        AttributeCipher(PropertyID(rawValue: number), "diagnosis", type, ring.table)
    }

    private func nonce(_ value: EncryptedValue) -> Data { value.stored[25..<37] }

    /// Computed from the description of the format by another program.
    @Test func aValueHasTheBytesOfTheFormat() throws {
        let value = try cipher(try keyRing()).encrypt("influenza", of: Self.object)
        let text = value.stored.map { String(format: "%02x", $0) }.joined()
        #expect(
            text
                == "01986d380d9e2fee1bf7a75e68f321dd25e43f7b384b5892952c89efb89127ada8d"
                + "8b28f58ee1d14e1612b42ee2d066cb892b5653fe2c12b16a32484cb0bec5aeb4f02")
    }

    @Test func aNonceIsSharedByEqualValuesOfOneAttributeOfOneObjectAlone() throws {
        let ring = try keyRing()
        let texts = cipher(ring), others = cipher(ring, number: 8)
        let neighbour = ObjectID(entity: EntityID(rawValue: 3), row: 6)
        var seen: [Data: EncryptedValue] = [:]
        func note(_ value: EncryptedValue) { #expect(seen.updateValue(value, forKey: nonce(value)) == nil) }
        // The last two are equal, and stored as they are given.
        let values: [AttributeValue] = ["", "a", "ab", "é", "e\u{301}"]
        for value in values {
            for object in [Self.object, neighbour] {
                note(try texts.encrypt(value, of: object))
                note(try others.encrypt(value, of: object))
                #expect(try texts.encrypt(value, of: object) == texts.encrypt(value, of: object))
            }
        }
        let doubles = cipher(ring, .double, number: 9)
        for value in [0.0, -0.0, .nan, Double(nan: 1, signaling: false)] {
            let encrypted = try doubles.encrypt(.double(value), of: Self.object)
            note(encrypted)
            guard case .double(let read) = try doubles.decrypt(encrypted, of: Self.object) else {
                Issue.record("\(value)")
                continue
            }
            #expect(read.bitPattern == value.bitPattern)
        }
        let composed = try texts.encrypt("é", of: Self.object), split = try texts.encrypt("e\u{301}", of: Self.object)
        #expect(composed.blind == split.blind && composed != split)
        for value in values {
            let read = try texts.decrypt(texts.encrypt(value, of: neighbour), of: neighbour)
            #expect(read.isIdentical(to: value))
        }
    }

    @Test func equalValuesOfObjectsHaveOneBlindUnderEveryKey() throws {
        let first = try keyRing(), second = try keyRing([Data(repeating: 1, count: 40), Self.secret])
        let one = cipher(first), two = cipher(second)
        let old = try one.encrypt("flu", of: Self.object), new = try two.encrypt("flu", of: Self.object)
        #expect(old != new && old.blind == new.blind && nonce(old) != nonce(new))
        #expect(try one.blind("flu").blind == old.blind && two.blind("cold").blind != new.blind)
        #expect(try two.decrypt(old, of: Self.object) == "flu" && two.isUnderNewestKey(new))
        #expect(!two.isUnderNewestKey(old))
        #expect(throws: StrataError.self) { try one.decrypt(new, of: Self.object) }
    }

    @Test func keysThatAreGivenLaterAreUsedByAllThreads() throws {
        let ring = try keyRing()
        let cipher = cipher(ring)
        let old = try cipher.encrypt("flu", of: Self.object)
        let next = try EncryptionKey(Data(repeating: 2, count: 32))
        DispatchQueue.concurrentPerform(iterations: 200) { index in
            if index == 50 { ring.table.take([next]) }
            #expect(throws: Never.self) {
                let value = try cipher.encrypt("flu", of: Self.object)
                #expect(try cipher.decrypt(value, of: Self.object) == "flu")
                #expect(try cipher.decrypt(old, of: Self.object) == "flu")
            }
        }
        #expect(try cipher.isUnderNewestKey(cipher.encrypt("flu", of: Self.object)) && !cipher.isUnderNewestKey(old))
    }
}
