import Foundation
import StrataGraph
import StrataModel

/// Stores a `TieColor` as bytes, and reads no other type back.
final class TieColorTransformer: CodableValueTransformer<TieColor>, @unchecked Sendable {
    static let name = "TieColorTransformer"

    static func register() {
        ValueTransformer.setValueTransformer(TieColorTransformer(), forName: name)
    }
}
