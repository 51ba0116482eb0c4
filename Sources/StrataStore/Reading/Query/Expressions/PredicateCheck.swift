import StrataModel

/// Checks predicates and expressions against the model: it refuses unknown names, values that can never be compared, a
/// to-many without quantifier, and unknown functions.
///
/// Comparisons of a path with constants are checked where they are compiled, all others here.
struct PredicateCheck {
    let entity: EntitySchema
    let schema: Schema
    /// The variables of the enclosing subqueries, with the types of their members.
    var variables: [String: ExpressionType] = [:]
    /// The columns of the rows that are judged in place of objects; nil for objects.
    var columns: [String: ExpressionType]?

    init(_ entity: EntitySchema, _ schema: Schema) {
        self.entity = entity
        self.schema = schema
    }

    /// - Throws: `unknownKey` with the nearest name, `wrongType`, `invalidRequest`, with the entity in the context.
    func check(_ predicate: FetchPredicate) throws(StrataError) {
        switch predicate {
        case .constant: break
        case .not(let part): try check(part)
        case .and(let parts), .or(let parts): for part in parts { try check(part) }
        case .comparison(let comparison):
            do {
                try check(comparison)
            } catch {
                var error = error
                error.context.predicate = error.context.predicate ?? comparison.description
                error.context.entityName = error.context.entityName ?? entity.name
                throw error
            }
        }
    }

    /// - Throws: as `check(_:)`.
    func check(_ comparison: ComparisonPredicate) throws(StrataError) {
        let left = try type(of: comparison.left), right = try type(of: comparison.right)
        try checkQuantity(comparison, left, right)
        let member = left.member
        switch comparison.operator {
        case .equalTo, .notEqualTo: try checkComparable(member, right.member, comparison)
        case .contains where left.isList && comparison.modifier == .direct:
            try checkComparable(member, right, comparison)
        case .in:
            if right.isList {
                try checkComparable(member, right.member, comparison)
            } else {
                try checkText(member, comparison.left)
                try checkText(right, comparison.right)
            }
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .between:
            try checkComparable(member, right.member, comparison)
            if let type = member.compared, !type.isOrdered {
                throw refusal(.wrongType, "\(comparison.left) is \(type.name) and has no order.")
            }
        case .beginsWith, .endsWith, .contains, .like, .matches:
            try checkText(member, comparison.left)
            try checkText(right.member, comparison.right)
        }
        if comparison.operator == .matches, case .constant(.string(let pattern)) = comparison.right {
            _ = try PatternMatcher.comparing(pattern, comparison.folding)
        }
    }

    // MARK: Rules

    /// Checks that quantifiers and operators fit the number of values on each side.
    private func checkQuantity(
        _ comparison: ComparisonPredicate, _ left: ExpressionType, _ right: ExpressionType
    ) throws(StrataError) {
        let isEquality = comparison.operator == .equalTo || comparison.operator == .notEqualTo
        if left.isList, comparison.modifier == .direct, comparison.operator != .contains,
            !(isEquality && right.isList)
        {
            throw refusal(
                .invalidRequest, comparison.quantifierNeeded("\(comparison.left)"))
        }
        switch comparison.operator {
        case .between:
            let isPair =
                switch comparison.right {
                case .aggregate(let bounds): bounds.count == 2
                case .conditional: right.isList
                default: false
                }
            guard isPair else { throw refusal(.invalidRequest, "BETWEEN needs two bounds.") }
        case .in: break
        default:
            if right.isList, !(isEquality && left.isList && comparison.modifier == .direct) {
                throw refusal(
                    .invalidRequest,
                    "\(comparison.right) has many values, which are allowed after IN only; write it on the left with ANY or ALL."
                )
            }
        }
    }

    private func checkComparable(
        _ left: ExpressionType, _ right: ExpressionType, _ comparison: ComparisonPredicate
    ) throws(StrataError) {
        guard let leftType = left.compared, let rightType = right.compared else { return }
        if leftType.isComparable(to: rightType) { return }
        if Self.literals(comparison.right).contains(where: { leftType.constant($0) != nil }) { return }
        if Self.literals(comparison.left).contains(where: { rightType.constant($0) != nil }) { return }
        if leftType == .encrypted || rightType == .encrypted {
            let path = leftType == .encrypted ? comparison.left : comparison.right
            throw refusal(
                .invalidRequest,
                "\(path) is encrypted; it can only be compared with constants as a key path of its own, by ==, != and IN, "
                    + "and not in SUBQUERY or a function: ANY members.attribute == 'value' finds it behind a to-many.")
        }
        throw refusal(
            .wrongType,
            "\(comparison.left) is \(left.name) and cannot be compared with \(comparison.right), \(right.name)."
                + (Self.literals(comparison.right).isEmpty ? "" : leftType.advice))
    }

    private static func literals(_ expression: FetchExpression) -> [AttributeValue] {
        switch expression {
        case .constant(let value): [value]
        case .aggregate(let parts): parts.flatMap(literals)
        default: []
        }
    }

    func checkText(_ type: ExpressionType, _ expression: FetchExpression) throws(StrataError) {
        guard type.canBeText else {
            throw refusal(.wrongType, "\(expression) is \(type.name), not a string.")
        }
    }

    func refusal(_ code: StrataError.Code, _ sentence: String, key: String? = nil) -> StrataError {
        StrataError(code, sentence, context: .init(entityName: entity.name, key: key))
    }
}

extension ComparisonPredicate {
    /// Advice for a comparison of a collection without quantifier.
    func quantifierNeeded(_ path: String) -> String {
        let isAboutNil = left == .constant(.null) || right == .constant(.null)
        let count = isAboutNil ? " To test whether it has members, write \(path).@count == 0." : ""
        return "\(path) has many values; compare it with ANY, ALL or CONTAINS.\(count)"
    }
}
