import StrataModel
import StrataStore

/// Which numbers of properties mean one property in the models of a store.
///
/// A property that gets another name keeps its number. One that gets another type has a new number, which takes over
/// from the former ones.
struct PropertyLineage {
    /// The number that took over from a number.
    private var heirs: [PropertyID: PropertyID] = [:]

    /// - Throws: `corrupt` if the record of a model cannot be decoded.
    init(of store: Store) throws {
        for schema in try store.schemas {
            for (heir, former) in schema.assignment.replaced {
                for property in former { heirs[property] = heir }
                // A number that returns is the newest again, so no chain is a circle.
                heirs[heir] = nil
            }
        }
    }

    /// The newest number of a property.
    func newest(_ property: PropertyID) -> PropertyID {
        var newest = property
        while let heir = heirs[newest] { newest = heir }
        return newest
    }
}
