/// Matches the names of a new model with those of the old one, by renaming identifiers and names.
enum Renaming {
    struct Item {
        let name: String
        let identifier: String?

        init(_ name: String, _ identifier: String?) {
            self.name = name
            self.identifier = identifier
        }

        init(_ property: PropertyDescription) { self.init(property.name, property.renamingIdentifier) }
    }

    /// The rules by which a new name continues an old one, the most certain first.
    private static let rules: [@Sendable (_ new: Item, _ old: Item) -> Bool] = [
        { new, old in new.name == old.name && new.identifier == old.identifier },
        { new, old in new.identifier == old.name },
        { new, old in new.identifier != nil && new.identifier == old.identifier },
        { new, old in new.name == old.name },
        // A rename that is taken back.
        { new, old in new.identifier == nil && new.name == old.identifier },
    ]

    /// The old name that a new one continues.
    static func origin(of new: Item, among old: [Item]) -> Item? {
        for rule in rules {
            if let found = old.first(where: { rule(new, $0) }) { return found }
        }
        return nil
    }

    /// The index in `new` of the name that continues an old one.
    static func heir(of old: Item, among new: [Item]) -> Int? {
        for rule in rules {
            if let found = new.firstIndex(where: { rule($0, old) }) { return found }
        }
        return nil
    }

    /// Matches two lists of names; returns the index in `old` by the index in `new`.
    ///
    /// - Parameter excludes: whether an index in `new` does not continue one in `old`, whatever the names are.
    static func match(
        new: [Item], old: [Item], unless excludes: (_ new: Int, _ old: Int) -> Bool = { _, _ in false }
    ) -> [Int: Int] {
        let byName = Dictionary(grouping: old.indices) { old[$0].name }
        let byIdentifier = Dictionary(grouping: old.indices) { old[$0].identifier ?? old[$0].name }
        var matches: [Int: Int] = [:]
        var taken: Set<Int> = []
        for rule in rules {
            for index in new.indices where matches[index] == nil {
                let item = new[index]
                let candidates =
                    (byName[item.name] ?? []) + (item.identifier.flatMap { byName[$0] } ?? [])
                    + (byIdentifier[item.identifier ?? item.name] ?? [])
                guard
                    let found = candidates.first(where: {
                        !taken.contains($0) && rule(item, old[$0]) && !excludes(index, $0)
                    })
                else { continue }
                matches[index] = found
                taken.insert(found)
            }
        }
        return matches
    }
}
