import Foundation
import StrataModel
import StrataTestSupport
import StrataXcode
import Testing

/// Changes, removes, doubles or cuts off random bytes of model files of real apps.
@Suite(.enabled(if: Corpus.isThere, "STRATA_CORPUS is not set"))
struct MutationTests {
    /// Each file is read, or rejected with a line and column inside the file.
    @Test(arguments: RandomTesting.seeds)
    func aDamagedFileIsReadOrRefusedWithItsLocation(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var refused = 0
        let samples = Corpus.versions.filter { $0.contents.count < 40_000 }
        for _ in 0..<150 {
            let version = try #require(samples.randomElement(using: &random))
            let bytes = Self.damaged(Array(version.contents), &random)
            do {
                let file = try XcodeModel(contents: Data(bytes), name: "M")
                _ = try file.managedObjectModel()
            } catch  where error.code == .invalidModel {
                #expect(!error.details.isEmpty, "seed \(seed): \(error)")
            } catch {
                refused += 1
                let problem = try #require(error.cause as? ModelFileError, "seed \(seed): \(error)")
                let lines = bytes.reduce(1) { $0 + ($1 == 0x0A || $1 == 0x0D ? 1 : 0) }
                #expect(
                    error.code == .invalidModelFile && 1...lines ~= problem.location.line, "seed \(seed): \(problem)")
                #expect(1...bytes.count + 1 ~= problem.location.column, "seed \(seed): \(problem)")
            }
        }
        #expect(refused > 20)
    }

    private static let words = [
        "<", ">", "/>", "\"", "&", "&lt;", "&#0;", "<!--", "<![CDATA[", "<!DOCTYPE m>", "\u{0}", "=", " ", "\r\n",
        "<entity>", "</entity>", " name=\"x\"", "\u{FEFF}", "é",
    ]

    private static func damaged(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
            let offset = Int.random(in: 0..<bytes.count, using: &random)
            let end = min(bytes.count, offset + Int.random(in: 1...60, using: &random))
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[offset] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 2: bytes.removeSubrange(offset..<end)
            case 3: bytes.insert(contentsOf: Array(bytes[offset..<end]), at: offset)
            case 4:
                bytes.insert(
                    contentsOf: Array(words.randomElement(using: &random).map { $0.utf8 } ?? "".utf8), at: offset)
            default: bytes.removeSubrange(offset...)
            }
        }
        return bytes
    }
}
