import Foundation
import StrataModel
import Testing

/// What the check of a model refuses of encrypted attributes.
@Suite struct EncryptionCheckTests {
    private func problems(
        _ secret: AttributeDescription, _ change: (inout EntityDescription) -> Void = { _ in }
    ) -> [String] {
        var entity = EntityDescription(
            name: "Person",
            properties: [.attribute(secret), .attribute(AttributeDescription(name: "name", type: .string))])
        change(&entity)
        do {
            _ = try ManagedObjectModel(entities: [entity])
            return []
        } catch {
            return error.details.isEmpty ? [error.message] : error.details.map(\.message)
        }
    }

    private var secret: AttributeDescription {
        AttributeDescription(name: "secret", type: .string, isOptional: true, encryption: .storeKey)
    }

    @Test func indexesAndUniquenessAreAccepted() {
        let found = problems(secret) {
            $0.indexes = [FetchIndexDescription(name: "s", elements: [FetchIndexElement("secret")])]
            $0.uniquenessConstraints = [["secret", "name"]]
        }
        #expect(found == [])
    }

    @Test func whatNeedsValuesWithoutAKeyIsRefusedWithTheReason() throws {
        var transient = secret
        transient.isTransient = true
        #expect(problems(transient).contains { $0.contains("is transient and encrypted") })
        var filled = secret
        filled.defaultValue = "x"
        #expect(problems(filled).contains { $0.contains("has a default") })
        var derived = secret
        derived.derivationExpression = try FetchExpression(format: "name")
        #expect(problems(derived).contains { $0.contains("is derived and encrypted") })
        let folded = problems(secret) {
            $0.indexes = [
                FetchIndexDescription(name: "s", elements: [FetchIndexElement("secret", folding: .caseInsensitive)])
            ]
        }
        #expect(folded.contains { $0.contains("cannot be folded") })
        let rule = problems(secret) {
            $0.validationPredicates = [ValidationPredicate(.isNotNil("secret"), message: "no")]
        }
        #expect(rule.contains { $0.contains("a rule over whole objects") })
        let other = problems(secret) {
            var initial = AttributeDescription(name: "initial", type: .string, isOptional: true)
            initial.derivationExpression = .keyPath("secret")
            $0.properties.append(.attribute(initial))
        }
        #expect(other.contains { $0.contains("secret is encrypted") })
        let composite = AttributeDescription(name: "place", type: .composite, isOptional: true, elements: [secret])
        #expect(problems(composite).contains { $0.contains("encrypt the whole composite") })
    }

    @Test func modelsWithoutEncryptionAreWrittenAsBefore() throws {
        let plain = AttributeDescription(name: "name", type: .string)
        let text = String(decoding: try JSONEncoder().encode(plain), as: UTF8.self)
        #expect(!text.contains("encryption"))
        let read = try JSONDecoder().decode(AttributeDescription.self, from: try JSONEncoder().encode(secret))
        #expect(read == secret && read.isEncrypted)
    }

    @Test func theVersionHashTellsEncryption() throws {
        func hash(_ attribute: AttributeDescription) -> Data {
            EntityDescription(name: "Person", properties: [.attribute(attribute)]).versionHash
        }
        var plain = secret
        plain.encryption = nil
        #expect(hash(plain) != hash(secret))
        #expect(!plain.canBeRead(as: secret) && !secret.canBeRead(as: plain) && secret.canBeRead(as: secret))
    }
}
