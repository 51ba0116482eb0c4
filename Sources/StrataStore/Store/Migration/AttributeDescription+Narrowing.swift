import StrataModel

extension AttributeDescription {
    /// Whether values that this description allows may break a rule of a later one.
    func isNarrowed(by later: AttributeDescription) -> Bool {
        let removed = validationRules.filter { !later.validationRules.contains($0) }
        return later.validationRules.contains { rule in
            !validationRules.contains(rule) && removed.contains { rule.isNarrower(than: $0) }
        }
    }
}
