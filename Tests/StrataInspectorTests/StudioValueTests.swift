import Foundation
import Testing

@testable import StrataInspector

/// A whole value, with which a field for a change begins.
@Suite struct StudioValueTests {
    @Test func aDateHasEveryDigit() throws {
        let visit = try StudioVisit()
        let time = "2026-11-21T10:00:00.123456Z"
        let made = try Tool.run("update", visit.store.path, "Film/p5", "released=\(time)")
        #expect(made.exitCode == 0, "\(made.error)")
        let answer = visit.answer("value/Film/p5/released")
        #expect(String(decoding: answer.body, as: UTF8.self) == time)
    }
}
