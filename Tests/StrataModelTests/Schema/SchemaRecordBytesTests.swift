import Foundation
import StrataModel
import Testing

/// The record of a model, byte for byte: written by hand after the names and numbers in the descriptions.
struct SchemaRecordBytesTests {
    private static let name =
        #"{"attribute":{"_0":{"allowsExternalBinaryDataStorage":false,"defaultValue":{"string":"a/b"},"#
        + #""elements":[],"isOptional":false,"isTransient":false,"name":"name","#
        + #""preservesValueInHistoryOnDeletion":false,"type":700,"userInfo":{"a":"1","b":"2"},"#
        + #""validationRules":[]}}}"#
    private static let owner =
        #"{"relationship":{"_0":{"deleteRule":2,"destinationEntityName":"Person","hasNoInverse":true,"#
        + #""isOptional":true,"isOrdered":false,"isToMany":false,"isTransient":false,"maxCount":0,"#
        + #""minCount":0,"name":"owner","renamingIdentifier":"person","userInfo":{}}}}"#
    private static let assignment =
        #"{"bornDefaults":{"1":{"string":"a/b"}},"entities":{"Tie":5},"indexes":{"Tie":{"byName":3}},"#
        + #""nextEntity":6,"nextIndex":4,"nextProperty":12,"#
        + #""properties":{"Tie":{"name":1,"owner":11}},"replaced":{"11":[2,7]}}"#
    private static let text =
        #"{"assignment":"# + assignment
        + #","entities":[{"indexes":[{"elements":[{"folding":1,"isAscending":false,"propertyPath":"name"}],"#
        + #""name":"byName"}],"isAbstract":false,"name":"Tie","properties":["# + name + "," + owner
        + #"],"uniquenessConstraints":[["name"]],"userInfo":{},"validationPredicates":[]}],"version":2}"#

    private static let record = SchemaRecord(
        version: ModelVersion(rawValue: 2),
        entities: [
            EntityDescription(
                name: "Tie",
                properties: [
                    .attribute(
                        AttributeDescription(
                            name: "name", type: .string, defaultValue: .string("a/b"), userInfo: ["b": "2", "a": "1"])),
                    .relationship(
                        RelationshipDescription(
                            name: "owner", destinationEntityName: "Person", hasNoInverse: true, deleteRule: .cascade,
                            renamingIdentifier: "person")),
                ],
                indexes: [
                    FetchIndexDescription(
                        name: "byName",
                        elements: [FetchIndexElement("name", isAscending: false, folding: .caseInsensitive)])
                ],
                uniquenessConstraints: [["name"]])
        ],
        assignment: ModelAssignment(
            entities: ["Tie": EntityID(rawValue: 5)],
            properties: ["Tie": ["name": PropertyID(rawValue: 1), "owner": PropertyID(rawValue: 11)]],
            indexes: ["Tie": ["byName": IndexID(rawValue: 3)]],
            bornDefaults: [PropertyID(rawValue: 1): .string("a/b")],
            replaced: [PropertyID(rawValue: 11): [PropertyID(rawValue: 2), PropertyID(rawValue: 7)]],
            nextEntity: 6, nextProperty: 12, nextIndex: 4))

    @Test func goldenBytesOfASchemaRecord() throws {
        #expect(String(decoding: try Self.record.encoded(), as: UTF8.self) == Self.text)
        #expect(try JSONDecoder().decode(SchemaRecord.self, from: Data(Self.text.utf8)) == Self.record)
    }
}
