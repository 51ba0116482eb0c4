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
        let cell = try visit.page(
            "objects/Film", ["where": "released = \(time.debugDescription)", "columns": "released"])
        #expect(cell["rows"][0]["cells"][0]["text"].text == time)
        let values = try visit.page("object/Film/p5")["values"].items
        #expect(values.first { $0["name"].text == "released" }?["value"]["text"].text == time)
        for form in ["csv", "json"] {
            let file = visit.answer("export/Film", ["columns": "released", "as": form])
            #expect(String(decoding: file.body, as: UTF8.self).contains(time), "\(form)")
        }
    }

    @Test func aCompositeIsWrittenAsItIsRead() throws {
        let store = try AwkwardStore()
        let studio = try Studio(paths: [store.path], isWritable: true)
        defer { studio.close() }
        let path = [studio.names[0], "value"] + store.full.split(separator: "/").map(String.init) + ["maß"]
        let text = String(decoding: studio.answer(StudioAddress(path: path)).body, as: UTF8.self)
        #expect(text == #"{"länge":1.5,"name":"\"x\""}"#)
        let change = ["kind": "set", "object": store.full, "values": ["maß": text]] as [String: Any]
        let answer = studio.change(
            StudioAddress(path: [studio.names[0], "draft"]), try JSONSerialization.data(withJSONObject: change))
        let draft = try JSONNode(answer.body)
        #expect(answer.status == 200 && draft["count"].number == 0)
    }

    @Test func aPlaceInAnOrderIsNoValue() throws {
        let store = try AwkwardStore()
        let studio = try Studio(paths: [store.path])
        defer { studio.close() }
        let path = [studio.names[0], "object"] + store.full.split(separator: "/").map(String.init)
        let page = try JSONNode(studio.answer(StudioAddress(path: path)).body)
        let names = page["history"].items.flatMap { $0["events"].items }.flatMap { $0["changes"].items }
            .compactMap { $0["property"].text }
        #expect(names.contains("kiste") && !names.contains { $0.contains("#") }, "\(names)")
    }
}
