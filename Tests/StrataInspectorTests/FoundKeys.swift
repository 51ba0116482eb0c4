@testable import StrataInspector

/// Keys and texts of documents, but for the keys of objects that the help shows as `{name: …}`.
struct FoundKeys {
    var keys: Set<String> = []
    var texts: Set<String> = []

    mutating func take(_ value: InputValue, open: Set<String>, isOpen: Bool = false) {
        switch value {
        case .object(let members):
            for (key, member) in members {
                if !isOpen { keys.insert(key) }
                let isValue =
                    ["value", "before", "after", "default"].contains(key) || isOpen && key != "properties"
                if isValue, case .object(let inner) = member, open.isDisjoint(with: inner.keys),
                    inner.keys.allSatisfy({
                        !["before", "after", "value", "count", "inserted", "transactions", "blocks"].contains($0)
                    })
                {
                    continue
                }
                take(member, open: open, isOpen: open.contains(key))
            }
        case .list(let elements): for element in elements { take(element, open: open) }
        case .text(let text): texts.insert(text)
        default: break
        }
    }
}
