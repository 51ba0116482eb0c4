import Foundation
import Testing

@testable import StrataInspector

/// Studio on a store of films.
struct StudioVisit {
    let store: FilmStore
    let studio: Studio
    /// The name of the store in addresses.
    let name: String

    init() throws {
        store = try FilmStore()
        studio = try Studio(paths: [store.path])
        name = try #require(studio.names.first)
    }

    /// What an address of the store answers; `path` is without the store's name.
    func answer(_ path: String, _ query: [String: String] = [:]) -> StudioAnswer {
        let parts = path.split(separator: "/").map(String.init)
        return studio.answer(StudioAddress(path: [name] + parts, query: query))
    }

    /// A page of the store as JSON.
    func page(_ path: String, _ query: [String: String] = [:], status: Int = 200) throws -> JSONNode {
        let answer = answer(path, query)
        #expect(answer.status == status, "\(path): \(String(decoding: answer.body, as: UTF8.self))")
        return try JSONNode(answer.body)
    }
}

/// A part of a document, for reading what a test expects to be there.
struct JSONNode {
    private let value: Any?

    init(_ data: Data) throws { value = try JSONSerialization.jsonObject(with: data) }
    private init(value: Any?) { self.value = value }

    subscript(key: String) -> JSONNode { JSONNode(value: (value as? [String: Any])?[key]) }
    subscript(index: Int) -> JSONNode {
        let items = value as? [Any] ?? []
        return JSONNode(value: items.indices.contains(index) ? items[index] : nil)
    }
    var items: [JSONNode] { (value as? [Any] ?? []).map { JSONNode(value: $0) } }
    var text: String? { value as? String }
    var number: Double? { (value as? NSNumber)?.doubleValue }
    var flag: Bool? { value as? Bool }
}
