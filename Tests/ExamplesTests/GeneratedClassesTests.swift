import Foundation
import StrataTestSupport
import Testing

/// The classes of BowTies are made from the model in Fixtures and committed; they are to be what is made today.
@Suite struct GeneratedClassesTests {
    @Test func theClassesOfBowTiesAreWhatGenerateMakesOfItsModel() throws {
        let directory = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: directory) }
        let model = ExampleRun.fixtures("BowTies").appending(component: "BowTies.xcdatamodeld")
        let result = try BuiltProgram("strata").run([
            "generate", model.path(percentEncoded: false), "--form", "plain", "--style", "extension", "--out",
            directory.path(percentEncoded: false),
        ])
        #expect(result.exitCode == 0 && result.error == "", "\(result)")
        let committed = model.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Examples/Sources/BowTies")
        for name in ["BowTie+Properties.swift", "BowTiesModel.swift"] {
            let made = try String(contentsOf: directory.appending(component: name), encoding: .utf8)
            let kept = try String(contentsOf: committed.appending(component: name), encoding: .utf8)
            #expect(made == kept, "\(name) is not what strata generate makes of BowTies.xcdatamodeld")
        }
    }
}
