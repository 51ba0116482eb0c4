// Made by strata from the model BowTies. What is changed here is lost the next time.
// swift-format-ignore-file

import Foundation
import StrataGraph
import StrataModel

/// The model BowTies.
enum BowTiesModel {
    /// A class for each entity, for `PersistentContainer(name:entities:)`.
    static var entities: [ManagedObject.Type] {
        [BowTie.self]
    }
}
