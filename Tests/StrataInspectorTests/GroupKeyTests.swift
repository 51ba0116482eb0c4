import Foundation
import Testing

/// Groups and orders by composites, their elements, and other values that are not compared.
@Suite final class GroupKeyTests {
    private let folder = FileManager.default.temporaryDirectory.appending(component: "groups-\(UUID().uuidString)")
    private let store: String

    private static let model = """
        <?xml version="1.0" encoding="UTF-8"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
            <entity name="Place" syncable="YES"><attribute name="name" optional="YES" attributeType="String"/>
                <attribute name="spot" optional="YES" attributeType="Composite" composite="Point"/>
                <attribute name="colour" optional="YES" attributeType="Transformable"/>
                <attribute name="photo" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
                <relationship name="parent" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Place"
                    inverseName="parts" inverseEntity="Place"/>
                <relationship name="parts" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Place"
                    inverseName="parent" inverseEntity="Place"/>
            </entity>
            <composite name="Point"><attribute name="height" optional="YES" attributeType="Composite" composite="Length"/>
                <attribute name="x" optional="YES" attributeType="Double"/></composite>
            <composite name="Length"><attribute name="metres" optional="YES" attributeType="Double"/></composite>
        </model>
        """

    init() throws {
        store = folder.appending(component: "S.strata").path
        let model = try EncryptedStore.write("M", Self.model, in: folder)
        for step in [
            ["create", store, "--model", model],
            ["insert", store, "Place", "name=a", #"spot={"x": 1, "height": {"metres": 5}}"#, "colour=AAEC"],
            ["insert", store, "Place", "name=b", #"spot={"x": 1}"#, "colour=AAEC", "parent=Place/p1"],
        ] {
            let result = try Tool.run(step)
            #expect(result.exitCode == 0, "\(result)")
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    @Test(arguments: [
        ("spot.x", "spot.x,count\n1,2\n"), ("spot.height.metres", "spot.height.metres,count\n,1\n5,1\n"),
        ("parts.spot.x", "parts.spot.x,count\n,1\n1,1\n"), ("colour", "colour,count\n<3 bytes>,2\n"),
    ])
    func elementsAndBytesMakeGroups(key: String, expected: String) throws {
        let result = try Tool.run("query", store, "Place", "--group-by", key, "--sort", key, "--format", "csv")
        #expect(result.output == expected, "\(result)")
    }

    @Test(arguments: [
        ("spot", "spot is a composite; objects are VERB by its elements, such as spot.x."),
        ("parent.spot", "parent.spot is a composite; objects are VERB by its elements, such as parent.spot.x."),
        ("spot.height", "spot.height is a composite; objects are VERB by its elements, such as spot.height.metres."),
        ("photo", "photo is data stored outside the row, and objects are not VERB by it."),
        ("spot.q", "spot has no element named q; it has height, x."),
        ("spot.hight", "spot has no element named hight; did you mean height?"),
        ("name.x", "name is a string and has no x."), ("colour.red", "colour is binary data and has no red."),
    ])
    func whatIsNotComparedSaysWhatIs(key: String, message: String) throws {
        for (option, verb) in [("--group-by", "grouped"), ("--sort", "sorted")] {
            let result = try Tool.run("query", store, "Place", option, key)
            #expect(result.exitCode == 2 && result.output.isEmpty, "\(result)")
            #expect(result.error == "strata: \(message.replacing("VERB", with: verb))\n")
        }
    }
}
