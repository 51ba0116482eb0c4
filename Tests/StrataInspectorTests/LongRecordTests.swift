import Foundation
import StrataTestSupport
import Testing

/// Records without end: the import stops at its limit, says where, and has not taken much more memory than that.
@Suite struct LongRecordTests {
    private let store: FilmStore
    private static let limit = 8 << 20

    init() throws { store = try FilmStore() }

    private struct Report: Decodable {
        let peakBytes: Int
        let transactions: Int
    }

    /// Imports what a line of shell writes.
    private func take(_ writer: String, form: String) throws -> (report: Report?, text: String, exitCode: Int32) {
        let result = try Tool.shell(
            "(\(writer)) 2>/dev/null | $strata import '\(store.path)' Studio - --form \(form) --record-limit 8M --json")
        let end = result.output.range(of: "\n}")?.lowerBound ?? result.output.startIndex
        let report = try? JSONDecoder().decode(Report.self, from: Data((result.output[..<end] + "}").utf8))
        return (report, result.output, result.exitCode)
    }

    @Test(arguments: [
        ("csv", "echo name,country; tr '\\0' a < /dev/zero", "line 2 is longer than 8.0 MiB"),
        ("csv", "echo name,country; echo x,y; printf '\"'; tr '\\0' '\\n' < /dev/zero", "line 3 is longer than"),
        ("csv", "echo name,country; tr '\\0' , < /dev/zero", "line 2 is longer than"),
        ("csv", "echo name,country; tr '\\0' '\"' < /dev/zero", "line 2 is longer than"),
        ("csv", "tr '\\0' a < /dev/zero", "line 1 is longer than"), ("csv", "cat /dev/zero", "line 1 is longer than"),
        ("ndjson", "echo '{\"name\": \"A\"}'; tr '\\0' a < /dev/zero", "line 2 is longer than"),
        ("ndjson", "cat /dev/zero", "line 1 is longer than"),
        (
            "json", "printf '[{\"name\": \"A\"},\\n {\"name\": \"'; tr '\\0' a < /dev/zero",
            "element 2 (line 2) is longer than"
        ),
        ("json", "printf '[[[['; tr '\\0' ' ' < /dev/zero", "element 1 (line 1) is longer than"),
        ("json", "printf '{\"name\": \"'; tr '\\0' a < /dev/zero", "the object of line 1 is longer than"),
        ("plist", "cat /dev/zero", "A property list is read whole, and this one is longer than"),
    ])
    func aRecordWithoutEndIsRefusedWithItsPlace(form: String, writer: String, sentence: String) throws {
        let usual = try #require(try take("echo 'name'", form: "csv").report)
        let (report, text, exitCode) = try take(writer, form: form)
        #expect(exitCode == 1 && text.contains(sentence) && text.contains("--record-limit"), "\(text.prefix(2000))")
        let more = try #require(report).peakBytes - usual.peakBytes
        #expect(more < 2 * Self.limit, "\(more) bytes")
    }

    /// Few bytes can be many values.
    @Test(arguments: [
        ("ndjson", "printf '{\"name\": ['; head -c 4000000 /dev/zero | tr '\\0' 1 | sed 's/1/1,/g'; echo '1]}'"),
        ("json", "printf '[{\"name\": ['; head -c 4000000 /dev/zero | tr '\\0' 1 | sed 's/1/1,/g'; echo '1]}]'"),
    ])
    func theNumberOfValuesIsBoundedToo(form: String, writer: String) throws {
        let (_, text, exitCode) = try take(writer, form: form)
        #expect(exitCode == 1 && text.contains("it has more than 65536 values ("), "\(text.prefix(2000))")
    }

    @Test func aHeadingHasABoundedNumberOfColumns() throws {
        let (_, text, exitCode) = try take("head -c 100000 /dev/zero | tr '\\0' ,; echo", form: "csv")
        #expect(
            exitCode == 1 && text.contains("line 1: The heading has more than 65536 columns."), "\(text.prefix(2000))")
    }

    /// A binary property list names one list ten times, whose ten members are one list again, and so on.
    @Test func aPropertyListThatUnfoldsIsStopped() throws {
        var objects: [[UInt8]] = [[0xA1, 1], [0xD1, 2, 3], [0x54] + Array("name".utf8)]
        for level in 0..<12 {
            objects.append([0xAA] + [UInt8](repeating: UInt8(objects.count + (level < 12 ? 1 : 0)), count: 10))
        }
        objects.append([0x51, 0x61])
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets.append(UInt8(bytes.count))
            bytes += object
        }
        let table = UInt64(bytes.count)
        bytes += offsets + [0, 0, 0, 0, 0, 0, 1, 1]
        for number in [UInt64(objects.count), 0, table] { bytes += withUnsafeBytes(of: number.bigEndian, Array.init) }
        let path = store.directory.appending(component: "bomb.plist")
        try Data(bytes).write(to: path)
        let result = try Tool.run(
            "import", store.path, "Studio", path.path(percentEncoded: false), "--record-limit", "1M")
        #expect(
            result.exitCode == 1 && result.error.contains("The property list has more than 65536 values."), "\(result)")
    }

    @Test func longRecordsFillATransactionBeforeManyDo() throws {
        let writer =
            "for i in $(seq 40); do printf '{\"name\": \"S%d\", \"country\": \"' $i; head -c 1000000 /dev/zero | "
            + "tr '\\0' a; echo '\"}'; done"
        let (report, text, exitCode) = try take(writer, form: "ndjson")
        #expect(exitCode == 0, "\(text.prefix(500))")
        #expect(try #require(report).transactions == 5)
    }

    @Test(arguments: ["0", "x", "-1", "10T", "", "M"]) func aLimitIsANumberOfBytes(limit: String) throws {
        let result = try Tool.run("import", store.path, "Studio", "a.csv", "--record-limit=\(limit)")
        #expect(result.exitCode == 2 && result.error.contains("--record-limit"), "\(result)")
    }
}
