import Foundation
import Testing

@testable import StrataInspector

/// A Studio that may write, over a store of films.
struct WritableStudio {
    let store: FilmStore
    let studio: Studio
    /// The store's name in addresses.
    let name: String

    init() throws {
        store = try FilmStore()
        studio = try Studio(paths: [store.path], isWritable: true)
        name = try #require(studio.names.first)
    }

    /// Sends what a page sends, and returns the answer.
    func send(_ page: String, _ body: [String: Any], status: Int = 200) throws -> JSONNode {
        let data = try JSONSerialization.data(withJSONObject: body)
        let answer = studio.change(StudioAddress(path: [name, page]), data)
        #expect(answer.status == status, "\(String(decoding: answer.body, as: UTF8.self))")
        return try JSONNode(answer.body)
    }
}
