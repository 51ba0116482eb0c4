import Foundation
import StrataGraph
import StrataModel
import StrataTestSupport
import StrataXcode
import Testing

@Suite(.enabled(if: Corpus.isThere, "STRATA_CORPUS is not set"))
struct CorpusTests {
    @Test func everyVersionLoadsAndEverySoundOneIsWrittenAsItWas() throws {
        var unsound: [String] = [], different: [String] = [], unequal: [String] = []
        for version in Corpus.versions {
            let file = try version.read()
            #expect(file.diagnostics.allSatisfy { $0.kind != .unknown }, "\(version): \(file.diagnostics)")
            do {
                let model = try file.managedObjectModel()
                let written = try model.xcodeContents()
                if written != version.contents { different.append("\(version.bundle.path)/\(version.name)") }
                let again = try XcodeModel(contents: written, name: version.name).managedObjectModel()
                if again != model { unequal.append("\(version.bundle.path)/\(version.name)") }
            } catch {
                unsound += error.details.map(\.message)
            }
        }
        #expect(Corpus.versions.count == 182)
        // Seven versions of one app have an inverse that names another relationship.
        #expect(
            unsound
                == Array(
                    repeating: "Image.artist names the inverse Artist.thumbnail, whose inverse is Image.thumbnail.",
                    count: 7))
        #expect(unequal == [])
        #expect(different == [])
    }

    /// One object of each concrete entity, saved, read again, verified. Every 7th version, or all of them in a
    /// long run (`STRATA_SEEDS`).
    @Test func everyEntityOfEveryVersionCanBeStored() throws {
        var stored = 0
        var entities = 0
        for version in Corpus.sample(Corpus.versions, oneIn: 7) {
            guard let model = try version.soundModel() else { continue }
            do {
                try SampleStore(model: model).run()
            } catch {
                Issue.record(error, "\(version)")
            }
            stored += 1
            entities += model.entities.filter { !$0.isAbstract }.count
        }
        print("\(stored) versions with \(entities) concrete entities were stored")
        #expect(stored > 20)
    }
}
