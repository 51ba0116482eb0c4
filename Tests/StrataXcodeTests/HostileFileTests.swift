import Foundation
import StrataModel
import StrataXcode
import Testing

/// Hostile files are rejected with a location, in time that is linear in their size.
struct HostileFileTests {
    private static let declaration = #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"# + "\n"

    private func problem(_ text: String) throws -> String {
        let error = #expect(throws: StrataError.self) { try XcodeModel(contents: Data(text.utf8), name: "M") }
        let known = try #require(error)
        #expect(known.code == .invalidModelFile)
        return try #require(known.cause as? ModelFileError).description
    }

    @Test(arguments: [
        ("", "line 1, column 1: the file has no element"),
        ("<model", "line 1, column 7: the file ends inside the tag <model"),
        ("<model>", "line 1, column 8: the file ends inside <model> of line 1"),
        ("<model><entity></model>", "line 1, column 16: expected </entity>, found </model>"),
        ("</model>", "line 1, column 1: </model> has no start tag"),
        ("<model/><model/>", "line 1, column 9: there is a second root element"),
        ("<model/>x", "line 1, column 9: text outside the root element"),
        ("<model a=b/>", "line 1, column 10: the value of the attribute a must be in quotes"),
        ("<model a/>", "line 1, column 9: expected = after the attribute a"),
        ("<model a=\"1\"b=\"2\"/>", "line 1, column 13: expected a space, > or /> in the tag <model"),
        ("<model a=\"1\" a=\"2\"/>", "line 1, column 14: <model> has the attribute a twice"),
        ("<model a=\"<\"/>", "line 1, column 11: < must be written as &lt;"),
        ("<model a=\"1", "line 1, column 10: the value of the attribute a does not end"),
        ("<model a=\"&x;\"/>", "line 1, column 11: the entity &x; is not known"),
        ("<model a=\"a & b\"/>", "line 1, column 13: & must be written as &amp;"),
        ("<model a=\"&#0;\"/>", "line 1, column 11: &#0; is not a character"),
        ("<model a=\"&#xD800;\"/>", "line 1, column 11: &#xD800; is not a character"),
        ("<model a=\"\u{1}\"/>", "line 1, column 11: the control character 1 is not allowed"),
        ("<!-- \n\n <model/>", "line 1, column 1: a comment does not end"),
        ("<1/>", "line 1, column 2: expected an element's name"),
        ("<movie/>", "line 1, column 1: the root element is <movie>; a model's is <model>"),
        ("<model>\n  <é a='1' a='2'/></model>", "line 2, column 12: <é> has the attribute a twice"),
        (
            "<!DOCTYPE m [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]><model a=\"&b;\"/>",
            "line 1, column 1: a document type is not allowed; it could define entities"
        ),
        (
            "<!DOCTYPE m SYSTEM \"file:///etc/passwd\"><model/>",
            "line 1, column 1: a document type is not allowed; it could define entities"
        ),
        (
            "<?xml version=\"1.0\" encoding=\"UTF-16\"?><model/>",
            "line 1, column 1: the file declares the encoding UTF-16; only UTF-8 is supported"
        ),
    ])
    func textThatIsNotWellFormedIsRefusedWithItsLocation(text: String, expected: String) throws {
        #expect(try problem(text) == expected)
    }

    @Test func aFileThatIsNotUTF8IsRefusedWithItsLocation() throws {
        let bytes = Data("<model>\n a".utf8) + [0xFF] + Data("</model>".utf8)
        let error = #expect(throws: StrataError.self) { try XcodeModel(contents: bytes, name: "M") }
        #expect((error?.cause as? ModelFileError)?.description == "line 2, column 3: the file is not UTF-8")
        let wide = #expect(throws: StrataError.self) {
            try XcodeModel(contents: Data([0xFF, 0xFE, 0x3C, 0x00]), name: "M")
        }
        #expect(wide?.code == .invalidModelFile)
    }

    /// Columns are counted from the element before. Counting from the start of the line would take quadratic time.
    @Test(.timeLimit(.minutes(1))) func aFileOfOneLongLineIsReadWithItsLocations() throws {
        let entities = (0..<20_000).map { "<entity name=\"Ä\($0)\"/>" }.joined()
        let text = "<model>\(entities)\n<entity name=\"B\"/><entity name=\"C\" parentEntity=\"D\"/></x></model>"
        #expect(try problem(text) == "line 2, column 54: expected </model>, found </x>")
        let first = "<model>\(entities)</x></model>"
        let column = "<model>\(entities)".unicodeScalars.count + 1
        #expect(try problem(first) == "line 1, column \(column): expected </model>, found </x>")
    }

    @Test func deepNestingIsRefused() throws {
        let text = String(repeating: "<model>", count: 1_000_000)
        #expect(try problem(text) == "line 1, column 225: elements are nested more than 32 levels deep")
    }

    @Test func manyAttributesAreRefused() throws {
        let attributes = (0..<200).map { "a\($0)='x'" }.joined(separator: " ")
        #expect(try problem("<model \(attributes)/>").hasSuffix("<model> has more than 128 attributes"))
    }

    @Test func aHugeFileIsRefusedUnread() throws {
        let error = #expect(throws: StrataError.self) {
            try XcodeModel(contents: Data(count: 33 << 20), name: "M")
        }
        #expect(error?.message.contains("is the maximum") ?? false)
    }

    /// Reading takes time linear in the file, and the check of the model refuses what is too large before it begins.
    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            ("E64 is 65 levels deep", (0..<4_000).map { "<entity name='E\($0)' parentEntity='E\($0 - 1)'/>" }),
            (
                "E has 60000 properties",
                ["<entity name='E'>"] + (0..<60_000).map { "<attribute name='a\($0)' attributeType='String'/>" }
                    + ["</entity>"]
            ),
            (
                "F has 40000 properties",
                ["<entity name='E'/><entity name='F'>"]
                    + (0..<40_000).map { "<relationship name='r\($0)' destinationEntity='E'/>" } + ["</entity>"]
            ),
            (
                "The model has 60001 entities",
                (0...60_000).map { "<entity name='E\($0)'/>" } + ["<elements>"]
                    + (0...60_000).map { "<element name='E\($0)' positionX='0'/>" } + ["</elements>"]
            ),
        ])
    func hugeModelsAreReadAndRefusedInLinearTime(sentence: String, parts: [String]) throws {
        let file = try XcodeModel(contents: Data("<model>\(parts.joined())</model>".utf8), name: "M")
        let error = #expect(throws: StrataError.self) { try file.managedObjectModel() }
        let text = error?.details.map(\.message).joined(separator: " ") ?? ""
        #expect(text.contains(sentence), "\(text.prefix(300))")
    }

    /// Every prefix, and every file with one byte changed, is read or rejected; none ends the process.
    @Test func truncatedAndDamagedFilesAreReadOrRefused() throws {
        let whole = Array((Self.declaration + HandMade.everything).utf8)
        var refused = 0
        for length in 0..<whole.count where length % 17 == 0 {
            do {
                _ = try XcodeModel(contents: Data(whole[..<length]), name: "M")
            } catch {
                #expect(error.code == .invalidModelFile)
                refused += 1
            }
        }
        #expect(refused > whole.count / 20)
        for offset in stride(from: 0, to: whole.count, by: 23) {
            for byte in [UInt8(0), 0x22, 0x26, 0x3C, 0xC3] {
                var bytes = whole
                bytes[offset] = byte
                do {
                    let model = try XcodeModel(contents: Data(bytes), name: "M")
                    _ = try model.managedObjectModel()
                } catch {
                    #expect([.invalidModelFile, .invalidModel].contains(error.code))
                }
            }
        }
    }

    /// Something other than a file in place of a model's `contents` is refused at once, never waited for.
    @Test(.timeLimit(.minutes(1)), arguments: ["contents", ".xccurrentversion"])
    func whatIsNoFileIsRefused(name: String) throws {
        let bundle = FileManager.default.temporaryDirectory.appending(component: "M-\(UUID().uuidString).xcdatamodeld")
        let version = bundle.appending(component: "M.xcdatamodel")
        try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: bundle) }
        try Data((Self.declaration + HandMade.everything).utf8).write(to: version.appending(component: "contents"))
        let place = (name == "contents" ? version : bundle).appending(component: name).path
        for put: (String) -> Int32 in [{ mkfifo($0, 0o600) }, { mkdir($0, 0o700) }, { symlink("/dev/zero", $0) }] {
            unlink(place)
            rmdir(place)
            #expect(put(place) == 0)
            let error = #expect(throws: StrataError.self) { try XcodeModelBundle(contentsOf: bundle).model() }
            #expect(error?.code == .invalidModelFile && error?.message.contains("plain file") == true, "\(place)")
        }
    }
}
