import Foundation
import StrataGraph
import StrataModel

/// Keeps a `TieColor` as bytes; no other type ever comes back out of the store.
final class TieColorTransformer: CodableValueTransformer<TieColor>, @unchecked Sendable {
    static let name = "TieColorTransformer"

    static func register() {
        ValueTransformer.setValueTransformer(TieColorTransformer(), forName: name)
    }
}
