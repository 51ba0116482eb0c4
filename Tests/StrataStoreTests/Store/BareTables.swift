import Foundation
import LMDB

@testable import StrataStore

/// The tables of a store without one: empty, and gone with the environment.
enum BareTables {
    static func make() throws -> (environment: Environment, tables: StoreTables) {
        let path = FileManager.default.temporaryDirectory.appending(component: "tables-\(UUID().uuidString)")
        var options = EnvironmentOptions()
        options.residence = .unlinkedAfterOpen
        options.durability = .disposable
        let environment = try Environment.open(at: path.path(percentEncoded: false), options: options)
        return (environment, try StoreTables(opening: environment))
    }
}
