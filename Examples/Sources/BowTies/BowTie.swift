import StrataGraph

/// A tie of the collection, with its look, its rating and how often it was worn.
///
/// The properties are in `BowTie+Properties.swift`, which `strata generate` makes from the Xcode model
/// `Fixtures/BowTies/BowTies.xcdatamodeld`. Code that the app adds to its ties goes here.
final class BowTie: _BowTie {}

/// A colour by its three parts, each from 0 to 255.
struct TieColor: Codable, Hashable, Sendable {
    var red: Int
    var green: Int
    var blue: Int
}
