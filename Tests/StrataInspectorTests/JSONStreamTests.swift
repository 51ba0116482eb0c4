import Foundation
import Testing

@testable import StrataInspector

/// A file of JSON is read record by record.
@Suite struct JSONStreamTests {
    private func source(_ text: String) throws -> (ByteSource, URL) {
        let url = FileManager.default.temporaryDirectory.appending(component: "\(UUID().uuidString).json")
        try Data(text.utf8).write(to: url)
        return (try ByteSource(url.path(percentEncoded: false)), url)
    }

    private func records(_ text: String) throws -> [InputRecord] {
        let (source, url) = try source(text)
        defer { try? FileManager.default.removeItem(at: url) }
        var reader = JSONRecordReader(source)
        var records: [InputRecord] = []
        while let record = try reader.next() { records.append(record) }
        return records
    }

    private func fault(_ text: String) throws -> String {
        let fault = #expect(throws: InputError.self) { try records(text) }
        return fault?.message ?? ""
    }

    @Test func elementsAreReadOneAfterTheOther() throws {
        let text = """
            [
              {"a": "x, ] } \\" \\\\", "b": [1, [2, {"c": "]"}]]},
              {"a": null}   ,

              {
                "a": 12345678901234567890.5
              }
            ]

            """
        let found = try records(text)
        #expect(
            found.map(\.location.description) == ["element 1 (line 2)", "element 2 (line 3)", "element 3 (line 5)"])
        #expect(found[0].object["a"] == .text(#"x, ] } " \"#))
        #expect(
            found[0].object["b"]
                == .list([.number("1"), .list([.number("2"), .object(["c": .text("]")])])]))
        #expect(found[1].object == ["a": .null] && found[2].object == ["a": .number("12345678901234567890.5")])
        #expect(try records("[]").isEmpty && records(" [ \n ] ").isEmpty)
        #expect(try records("\n{\"a\": 1}").map(\.location.description) == ["element 1 (line 2)"])
    }

    /// The first of many is there before the rest is read: memory holds one.
    @Test func aLongArrayIsNotHeldInMemory() throws {
        let one = #"{"text": "\#(String(repeating: "x", count: 500))"}"#
        let (source, url) = try source("[" + Array(repeating: one, count: 10_000).joined(separator: ",\n") + "]")
        defer { try? FileManager.default.removeItem(at: url) }
        var reader = JSONRecordReader(source)
        let size = try #require(source.size)
        #expect(size > 5_000_000)
        for number in 1...3 {
            #expect(try reader.next() != nil)
            #expect(source.position < 520 * number)
        }
        #expect(source.heldCount <= 1 << 18)
    }

    @Test(arguments: [
        ("", "This is not JSON: it ends too soon (line 1, byte 1)."),
        ("[", "This is not JSON: it ends too soon (line 1, byte 2)."),
        ("[\n{\"a\": 1}", "This is not JSON: the array does not end (line 2, byte 11)."),
        ("[{\"a\": 1},]", "This is not JSON: it ends too soon (line 1, byte 11)."),
        ("[{\"a\": 1}\n,\n\n{\"a\": tru}]", "This is not JSON: there is no value (line 4, byte 20)."),
        ("[{\"a\": 1}] x", "This is not JSON: there is more after the array (line 1, byte 12)."),
        ("[{\"a\": 1]}", "This is not JSON: there is no comma or brace (line 1, byte 9)."),
        ("[{\"a\": \"1]", "This is not JSON: text does not end (line 1, byte 11)."),
        ("[1, 2]", "element 1 (line 1): This is not an object."),
        ("[{\"a\": 1} {\"a\": 2}]", "This is not JSON: there is more after the value (line 1, byte 11)."),
        ("{\"a\": 1} {\"a\": 2}", "This is not JSON: there is more after the value (line 1, byte 10)."),
    ])
    func errorsNameTheirLocation(text: String, expected: String) throws {
        #expect(try fault(text) == expected)
    }
}

extension InputRecord {
    fileprivate var object: [String: InputValue] {
        Dictionary(uniqueKeysWithValues: zip(keys, values).compactMap { key, value in value.map { (key, $0) } })
    }
}
