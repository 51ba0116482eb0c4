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

    @Test func subjectsMustBeNamedAndTheirValuesMayGo() throws {
        func refusals(
            _ subject: EncryptionSubject, isOptional: Bool = true,
            _ change: (inout EntityDescription) -> Void = { _ in }
        ) -> [String] {
            var attribute = secret
            attribute.encryption = .subjectKey(subject)
            attribute.isOptional = isOptional
            return problems(attribute, change)
        }
        #expect(refusals(.object) == [] && refusals("name") == [])
        let required = refusals(.object, isOptional: false)
        #expect(required.contains { $0.contains("has no value when its subject is erased") })
        #expect(refusals("nmae").contains { $0.contains("is no property of the entity") && $0.contains("name") })
        #expect(refusals("secret").contains { $0.contains("is encrypted itself") })
        let number = refusals("weight") {
            $0.properties.append(.attribute(AttributeDescription(name: "weight", type: .double, isOptional: true)))
        }
        #expect(number.contains { $0.contains("name a string, a whole number or a UUID") })
        let many = refusals("friends") {
            $0.properties.append(
                .relationship(
                    RelationshipDescription(name: "friends", destinationEntityName: "Person", isToMany: true)))
        }
        #expect(many.contains { $0.contains("is to-many or transient") })
        let unique = refusals(.object) { $0.uniquenessConstraints = [["secret"]] }
        #expect(unique.contains { $0.contains("equal values of two subjects differ") })
        let indexed = refusals(.object) {
            $0.indexes = [FetchIndexDescription(name: "s", elements: [FetchIndexElement("secret")])]
        }
        #expect(indexed.contains { $0.contains("equal values of two subjects differ") })
    }

    @Test func whoseKeyIsReadAsItWasWritten() throws {
        for encryption in [.storeKey, .subjectKey(.object), .subjectKey("customer")] as [AttributeEncryption] {
            var attribute = secret
            attribute.encryption = encryption
            let read = try JSONDecoder().decode(AttributeDescription.self, from: try JSONEncoder().encode(attribute))
            #expect(read == attribute)
            #expect(attribute.canBeRead(as: secret) == (encryption == .storeKey))
        }
        for text in ["", "key", "subjectKey:", "subjectkey"] { #expect(AttributeEncryption(rawValue: text) == nil) }
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
