import Foundation

// Descriptions of containers, as `print` shows them.

extension PersistentContainer: CustomStringConvertible {
    /// The name and where the store is: `container Movies at /srv/Movies.strata`, with a note if it is not open.
    public var description: String {
        let place = storeURL.map { "at \($0.path)" } ?? "in memory"
        return "container \(name) \(place)\(isLoaded ? "" : ", not open")"
    }
}
