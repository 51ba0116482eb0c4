import Foundation
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

@testable import StrataBuckets
@testable import StrataShipping

/// A server of S3 on this machine: moto, if Python has it.
private final class BucketServer {
    static let isThere: Bool = {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", "import moto.server, flask"]
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    private let process = Process()
    let endpoint: URL
    let credentials = BucketCredentials(accessKeyID: "test", secretAccessKey: "secret")

    init() throws {
        let port = Int.random(in: 20_000...60_000)
        endpoint = try #require(URL(string: "http://127.0.0.1:\(port)"))
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-m", "moto.server", "-p", "\(port)"]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        let connection = BucketConnection(
            server: endpoint, region: "us-east-1", credentials: credentials, label: "s3://films")
        for _ in 0..<20 {
            if let answer = try? connection.send("PUT", "/films"), answer.status == 200 { return }
            usleep(200_000)
        }
        throw StrataError(.targetUnavailable, "moto did not start.")
    }

    // A child of a thread that blocks signals does not get SIGTERM.
    deinit { kill(process.processIdentifier, SIGKILL) }

    func bucket(_ prefix: String = "copies/of films & more") -> BucketTarget {
        BucketTarget("films", prefix: prefix, endpoint: endpoint, credentials: credentials)
    }
}

/// Shipping to a bucket. These tests need Python 3 with `moto` and `flask`, and are reported as skipped without them.
@Suite(.serialized, .enabled(if: BucketServer.isThere, "python3 with moto and flask is not installed"))
struct BucketTests {
    @Test func aBucketKeepsFilesAsADirectoryDoes() throws {
        let server = try BucketServer()
        let target = server.bucket()
        #expect(try target.read("none") == nil)
        #expect(try target.write(Data("one".utf8), to: "log/a b+c.segment") == .written)
        #expect(try target.write(Data("two".utf8), to: "log/a b+c.segment") == .existed)
        #expect(try target.read("log/a b+c.segment") == Data("one".utf8))
        let large = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let start = ContinuousClock.now
        #expect(try target.write(large, to: "blobs/large") == .written)
        #expect(ContinuousClock.now - start < .seconds(3))
        #expect(try target.read("blobs/large") == large)
        for number in 0..<1005 where number % 335 == 0 || number > 1000 {
            _ = try target.write(Data(), to: "many/\(number)")
        }
        let names = try target.entries(under: "many/", after: nil).map(\.name)
        #expect(names == names.sorted() && names.count == 7)
        #expect(try target.entries(under: "many/", after: names[2]).map(\.name) == Array(names[3...]))
        #expect(try target.entries(under: "log/", after: nil).map(\.sizeInBytes) == [3])
        let date = try #require(try target.entries(under: "", after: nil).first?.date)
        #expect(abs(date.timeIntervalSinceNow) < 3600)
        try target.remove("log/a b+c.segment")
        try target.remove("log/a b+c.segment")
        #expect(try target.entries(under: "log/", after: nil).isEmpty)
    }

    @Test func aStoreIsShippedToABucketAndRestored() throws {
        let server = try BucketServer()
        let library = try FilmLibrary(seed: 3)
        let target = server.bucket()
        let shipper = LogShipper(library.store, target, ShippingOptions(keptSnapshots: 2))
        for number in 0..<12 {
            for _ in 0..<3 { try library.step() }
            _ = try shipper.ship(makesSnapshot: number % 4 == 3)
        }
        let (copy, _) = try library.restored(target)
        defer { copy.close() }
        #expect(try FilmLibrary.state(of: copy) == FilmLibrary.state(of: library.container))
        let standby = try Standby(target, at: library.url("standby.strata"))
        try library.step()
        _ = try shipper.ship()
        #expect(try standby.catchUp().position == library.store.logPosition())
        standby.close()
    }

    @Test func theToolShipsToABucket() throws {
        let server = try BucketServer()
        let library = try FilmLibrary()
        try library.insertFilms(3)
        let environment = [
            "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_ENDPOINT_URL": server.endpoint.absoluteString,
        ]
        let tool = BuiltProgram("strata")
        let restored = library.url("restored.strata").path(percentEncoded: false)
        let shipped = try tool.run(["ship", library.store.path, "s3://films/tool"], environment: environment)
        #expect(shipped.exitCode == 0, "\(shipped)")
        #expect(shipped.output.hasPrefix("s3://films/tool: up to t4, 4 transactions shipped, "), "\(shipped)")
        let made = try tool.run(["restore", "s3://films/tool", restored, "--to", "t3"], environment: environment)
        #expect(made.exitCode == 0, "\(made)")
        #expect(try tool.run(["count", restored, "Film"]).output == "2\n")
        let missing = try tool.run(["ship", library.store.path, "s3://none/x"], environment: environment)
        #expect(missing.exitCode == 1 && missing.error.contains("NoSuchBucket"), "\(missing)")
    }

    @Test func whatABucketRefusesIsTold() throws {
        let server = try BucketServer()
        let missing = BucketTarget("none", endpoint: server.endpoint, credentials: server.credentials)
        let error = #expect(throws: StrataError.self) { try missing.entries(under: "", after: nil) }
        #expect(error?.code == .targetUnavailable && error?.message.contains("NoSuchBucket") ?? false)
        #expect(throws: StrataError.self) { try missing.read("x") }
        #expect(throws: StrataError.self) { try missing.write(Data(), to: "x") }
    }

    @Test func aServerThatIsAwayIsTold() throws {
        let target = BucketTarget(
            "films", endpoint: URL(string: "http://127.0.0.1:1"),
            credentials: BucketCredentials(accessKeyID: "a", secretAccessKey: "b"))
        let error = #expect(throws: StrataError.self) { try target.read("x") }
        #expect(error?.code == .targetUnavailable)
    }
}

/// Signatures and addresses, without a server.
@Suite struct BucketRequestTests {
    /// The example of "Signature Calculations for the Authorization Header" in Amazon's reference for S3: GET Object.
    @Test func theSignatureIsThatOfTheReference() {
        let credentials = BucketCredentials(
            accessKeyID: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
        let date = Date(timeIntervalSince1970: 1_369_353_600)
        let signature = RequestSignature(credentials: credentials, region: "us-east-1", date: date)
        let headers = signature.headers(
            "GET", host: "examplebucket.s3.amazonaws.com", path: "/test.txt", query: [],
            headers: ["range": "bytes=0-9"], body: Data())
        #expect(
            headers["authorization"]?.hasSuffix(
                "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41") ?? false)
        let list = signature.headers(
            "GET", host: "examplebucket.s3.amazonaws.com", path: "/", query: [("max-keys", "2"), ("prefix", "J")],
            headers: [:], body: Data())
        #expect(
            list["authorization"]?.hasSuffix(
                "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7") ?? false)
    }

    @Test func anAddressAndTheEnvironmentNameABucket() throws {
        let keys = ["AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "hidden"]
        #expect(try BucketTarget(address: "s3://b/a/c/", environment: keys).label == "s3://b/a/c")
        #expect(try BucketTarget(address: "s3://b", environment: keys).label == "s3://b")
        for (address, environment) in [
            ("s3://", keys), ("s3:b", keys), ("s3://b", [:]),
            ("s3://b", keys.merging(["AWS_ENDPOINT_URL": "localhost"]) { $1 }),
        ] {
            #expect(throws: StrataError.self) { try BucketTarget(address: address, environment: environment) }
        }
        let credentials = BucketCredentials(accessKeyID: "id", secretAccessKey: "hidden", sessionToken: "too")
        #expect(!"\(credentials) \(String(reflecting: credentials))".contains("hidden"))
        var dumped = ""
        dump(credentials, to: &dumped)
        #expect(!dumped.contains("hidden") && !dumped.contains("too"))
    }

    @Test func answersOfABucketAreRead() {
        let text =
            "<R><Contents><Key>a&amp;b&#x41;&#66;&lt;</Key><Size>3</Size></Contents><Contents><Key/></Contents></R>"
        let list = BucketXML(Data(text.utf8)).elements("Contents")
        #expect(list.count == 2 && list[0].text("Key") == "a&bAB<" && list[1].text("Key") == nil)
    }
}
