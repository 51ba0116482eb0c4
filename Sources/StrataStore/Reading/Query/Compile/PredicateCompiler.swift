import StrataModel

/// Compiles predicates for an entity: binds names to slots, and converts constants to the types they are compared with.
///
/// It refuses predicates that cannot run, before anything is read.
struct PredicateCompiler {
    let entity: EntitySchema
    let schema: Schema

    /// The parts of a predicate that must all hold.
    ///
    /// - Throws: `unknownKey`, `wrongType`, `invalidRequest`.
    func conjuncts(of predicate: FetchPredicate) throws(StrataError) -> [CompiledCondition] {
        let template = try template(of: predicate)
        var conditions: [CompiledCondition] = []
        guard try template.bind(predicate, into: &conditions) else {
            throw StrataError(
                .invalidRequest, "The predicate cannot be evaluated by the store.",
                context: .init(entityName: entity.name, predicate: predicate.description))
        }
        return conditions
    }

    /// The predicate without its constants, after a check that it can run with them.
    func template(of predicate: FetchPredicate) throws(StrataError) -> PredicateTemplate {
        guard predicate.depth(upTo: PredicateLimits.depth) != nil else {
            throw StrataError(
                .invalidRequest, "The predicate is nested more than \(PredicateLimits.depth) levels deep.")
        }
        return try template(predicate, isNegated: false)
    }

    private func template(_ predicate: FetchPredicate, isNegated: Bool) throws(StrataError) -> PredicateTemplate {
        switch (predicate, isNegated) {
        case (.not(let part), _): return .inverted(try template(part, isNegated: !isNegated))
        case (.and(let parts), false), (.or(let parts), true):
            return .all(try templates(parts, isNegated), isNegated: isNegated)
        case (.or(let parts), false), (.and(let parts), true):
            return .any(try templates(parts, isNegated), isNegated: isNegated)
        case (.constant(let value), _):
            return .fixed(CompiledCondition(ConstantCondition(value != isNegated), predicate), predicate)
        case (.comparison(let comparison), _):
            switch try ComparisonCompiler(comparison, entity, schema).compiled() {
            case .leaf(let leaf): return .leaf(leaf, comparison.shape, isNegated: isNegated)
            case .condition(let compiled):
                let condition =
                    isNegated ? CompiledCondition(NotCondition(compiled.row), .not(predicate)) : compiled
                return .fixed(condition, predicate)
            }
        }
    }

    private func templates(
        _ parts: [FetchPredicate], _ isNegated: Bool
    ) throws(StrataError) -> [PredicateTemplate] {
        var templates: [PredicateTemplate] = []
        for part in parts { templates.append(try template(part, isNegated: isNegated)) }
        return templates
    }
}

/// Compiles one comparison.
struct ComparisonCompiler {
    let comparison: ComparisonPredicate
    let entity: EntitySchema
    let schema: Schema

    /// One side of the comparison, bound to the entity.
    enum Side {
        case path(ResolvedPath)
        case constant(AttributeValue)
        case list([Side])

        var isConstant: Bool {
            switch self {
            case .path: false
            case .constant: true
            case .list(let parts): parts.allSatisfy(\.isConstant)
            }
        }

        /// The list of constants; nil if there are paths among them.
        var constants: [AttributeValue]? {
            switch self {
            case .path: return nil
            case .constant(let value): return [value]
            case .list(let parts):
                var values: [AttributeValue] = []
                for part in parts {
                    guard let more = part.constants else { return nil }
                    values += more
                }
                return values
            }
        }

        /// Whether every constant is text or nil.
        var mayBeText: Bool {
            switch self {
            case .path(let path): ComparedType(path.end).isText
            case .constant(let value): value.isNull || value.text != nil
            case .list(let parts): parts.allSatisfy(\.mayBeText)
            }
        }

        var operand: ValueOperand {
            switch self {
            case .path(let path): .path(ValuePath(path))
            case .constant(let value): .constant(value)
            case .list(let parts): .list(parts.map(\.operand))
            }
        }
    }

    init(_ comparison: ComparisonPredicate, _ entity: EntitySchema, _ schema: Schema) {
        self.comparison = comparison
        self.entity = entity
        self.schema = schema
    }

    /// The result of compiling a comparison.
    enum Compiled {
        /// A condition with its constants.
        case condition(CompiledCondition)
        /// A comparison of a path with constants, which are on the right side.
        case leaf(LeafCompiler)
    }

    func compiled() throws(StrataError) -> Compiled {
        if let compiled = try compiledExpression() { return .condition(compiled) }
        let left = try side(comparison.left), right = try side(comparison.right)
        if comparison.modifier == .direct, left.isConstant, case .path(let path) = right,
            let turned = Self.turned(comparison.operator, path)
        {
            let comparison = ComparisonPredicate(
                comparison.right, turned, comparison.left, modifier: comparison.modifier, folding: comparison.folding)
            let compiled = try ComparisonCompiler(comparison, entity, schema).compiled(path, turned, left)
            return .condition(try compiled.bound(to: comparison))
        }
        if case .path(let path) = left { return try compiled(path, comparison.operator, right) }
        if case .list = left, comparison.operator == .contains, comparison.modifier == .direct {
            let turned = ComparisonPredicate(comparison.right, .in, comparison.left, folding: comparison.folding)
            return .condition(try ComparisonCompiler(turned, entity, schema).compiled().bound(to: turned))
        }
        try checkShape(left, right)
        return .condition(general(left, right))
    }

    private func side(_ expression: FetchExpression) throws(StrataError) -> Side {
        switch expression {
        case .constant(let value): return .constant(value)
        case .evaluatedObject: return .path(ResolvedPath(selfOf: entity))
        case .keyPath(let path):
            do {
                return .path(try ResolvedPath.of(path, in: entity, schema))
            } catch {
                var error = error
                error.context.predicate = comparison.description
                throw error
            }
        case .aggregate(let parts):
            var sides: [Side] = []
            for part in parts { sides.append(try side(part)) }
            return .list(sides)
        case .variable, .keyPathOf, .function, .conditional, .subquery, .set, .element:
            throw refusal(.invalidRequest, nil, "\(expression) cannot be evaluated by the store.")
        }
    }

    /// The operator for exchanged sides; nil if there is none.
    private static func turned(
        _ comparison: ComparisonPredicate.Operator, _ path: ResolvedPath
    ) -> ComparisonPredicate.Operator? {
        switch comparison {
        case .equalTo, .notEqualTo: comparison
        case .lessThan: .greaterThan
        case .lessThanOrEqualTo: .greaterThanOrEqualTo
        case .greaterThan: .lessThan
        case .greaterThanOrEqualTo: .lessThanOrEqualTo
        case .in: path.isToMany || ComparedType(path.end).isText ? .contains : nil
        default: nil
        }
    }

    // MARK: A path on the left

    private func compiled(
        _ path: ResolvedPath, _ operation: ComparisonPredicate.Operator, _ right: Side
    ) throws(StrataError) -> Compiled {
        let type = ComparedType(path.end)
        if type == .encrypted { try checkEncrypted(path, operation, right) }
        var operation = operation
        var quantifier: MemberQuantifier? =
            comparison.modifier == .all ? .all : comparison.modifier == .any ? .any : nil
        if path.isToMany, quantifier == nil {
            guard operation == .contains else {
                throw refusal(
                    .invalidRequest, path, comparison.quantifierNeeded(path.text))
            }
            (operation, quantifier) = (.equalTo, .any)
        }
        try checkOperator(operation, type, path)
        if let constants = right.constants {
            let isList = if case .list = right { true } else { false }
            if operation == .in, !isList {
                // `path IN "text"` looks for the path's value in the text.
                guard type.isText, constants[0].text != nil else {
                    throw refusal(.invalidRequest, path, Self.listNeeded)
                }
            } else {
                try checkCount(constants, operation, isList, path)
                // A number that the path's type cannot have, such as 1e200 for a decimal.
                if type.isNumber, constants.contains(where: { $0.isNumber && type.constant($0) == nil }) {
                    try checkConstants(constants.filter { !$0.isNumber }, type, path)
                    return .condition(general(.path(path), right, operation, path.isToMany ? quantifier : nil))
                }
                try checkConstants(constants, type, path)
                return .leaf(
                    LeafCompiler(
                        path: path, type: type, operation: operation, folding: comparison.folding,
                        quantifier: quantifier ?? .any, schema: schema))
            }
        }
        try checkComparable(type, right, operation, path)
        if case .path(let own) = right, let row = FarNumberCondition(path, operation, own, quantifier) {
            return .condition(CompiledCondition(row, .comparison(comparison)))
        }
        return .condition(general(.path(path), right, operation, path.isToMany ? quantifier : nil))
    }

    private func general(
        _ left: Side, _ right: Side, _ operation: ComparisonPredicate.Operator? = nil,
        _ quantifier: MemberQuantifier? = nil
    ) -> CompiledCondition {
        var quantifier = quantifier
        if case .list = left { quantifier = comparison.modifier == .all ? .all : .any }
        let row = ValueCondition(
            left.operand, operation ?? comparison.operator, right.operand, quantifier, comparison.folding)
        return CompiledCondition(row, .comparison(comparison))
    }

    // MARK: Checks

    private static let listNeeded = "IN needs a list on its right side."
    private static let boundsNeeded = "BETWEEN needs two bounds."

    private func checkOperator(
        _ operation: ComparisonPredicate.Operator, _ type: ComparedType, _ path: ResolvedPath
    ) throws(StrataError) {
        switch operation {
        case .equalTo, .notEqualTo, .in: break
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .between:
            guard type.isOrdered else {
                throw refusal(.wrongType, path, "\(path.text) is \(type.name) and has no order.")
            }
        case .beginsWith, .endsWith, .contains, .like, .matches:
            guard type.isText else {
                throw refusal(.wrongType, path, "\(path.text) is \(type.name), not a string.")
            }
        }
    }

    private func checkCount(
        _ constants: [AttributeValue], _ operation: ComparisonPredicate.Operator, _ isList: Bool,
        _ path: ResolvedPath
    ) throws(StrataError) {
        switch operation {
        case .between where !isList || constants.count != 2:
            throw refusal(.invalidRequest, path, Self.boundsNeeded)
        case .between, .in: break
        default:
            if isList { throw refusal(.invalidRequest, path, "A list is allowed after IN and BETWEEN only.") }
        }
    }

    private func checkConstants(
        _ constants: [AttributeValue], _ type: ComparedType, _ path: ResolvedPath
    ) throws(StrataError) {
        if let encryption = type == .encrypted ? EncryptedComparison(path, schema) : nil {
            return try check(constants, encryption, path)
        }
        for constant in constants {
            if type == .outside, !constant.isNull {
                throw refusal(
                    .invalidRequest, path,
                    "\(path.text) may be stored outside the row, so it can only be compared with nil.")
            }
            guard type.constant(constant) != nil else {
                throw cannotCompare(path, type, constant)
            }
        }
    }

    private func cannotCompare(_ path: ResolvedPath, _ type: ComparedType, _ constant: AttributeValue) -> StrataError {
        let advice = constant.isNumber || constant.text != nil ? type.advice + path.advice : ""
        return refusal(
            .wrongType, path, "\(path.text) is \(type.name) and cannot be compared with \(constant.kindName).\(advice)")
    }

    /// Refuses a comparison of two paths whose values can never be equal.
    private func checkComparable(
        _ type: ComparedType, _ right: Side, _ operation: ComparisonPredicate.Operator, _ path: ResolvedPath
    ) throws(StrataError) {
        switch right {
        case .constant(let value):
            let isNear = value.text != nil && type.isText || value.isNumber && type.isNumber
            guard type.constant(value) != nil || isNear else {
                throw cannotCompare(path, type, value)
            }
        case .path(let other):
            let otherType = ComparedType(other.end)
            if operation == .between { throw refusal(.invalidRequest, path, Self.boundsNeeded) }
            if other.isToMany, operation != .in {
                throw refusal(.invalidRequest, other, "\(other.text) has many values, which are allowed after IN only.")
            }
            if operation == .in, !other.isToMany, !(type.isText && otherType.isText) {
                throw refusal(.invalidRequest, path, Self.listNeeded)
            }
            guard type != .outside, type != .encrypted, type.isComparable(to: otherType) else {
                throw refusal(
                    .wrongType, path,
                    "\(path.text) is \(type.name) and cannot be compared with \(other.text), \(otherType.name).")
            }
        case .list(let parts):
            guard operation == .in || operation == .between && parts.count == 2 else {
                throw refusal(.invalidRequest, path, "A list is allowed after IN and BETWEEN (with two bounds) only.")
            }
            for part in parts { try checkComparable(type, part, .equalTo, path) }
        }
    }

    /// Refuses a comparison whose left side is not a path.
    private func checkShape(_ left: Side, _ right: Side) throws(StrataError) {
        let isList = if case .list = right { true } else { false }
        if case .list = left, comparison.modifier == .direct {
            throw refusal(.invalidRequest, nil, "A list on the left needs ANY or ALL.")
        }
        switch (comparison.operator, right) {
        case (.between, .list(let bounds)) where bounds.count == 2: break
        case (.between, _): throw refusal(.invalidRequest, nil, Self.boundsNeeded)
        case (.in, .list): break
        case (.in, .path(let path)):
            guard path.isToMany || ComparedType(path.end).isText && left.mayBeText else {
                throw refusal(.invalidRequest, path, Self.listNeeded)
            }
        case (.in, .constant(let text)):
            guard text.text != nil, left.mayBeText else { throw refusal(.invalidRequest, nil, Self.listNeeded) }
        default:
            if isList { throw refusal(.invalidRequest, nil, "A list is allowed after IN and BETWEEN only.") }
        }
        if case .path(let path) = right, path.isToMany, comparison.operator != .in {
            throw refusal(.invalidRequest, path, "\(path.text) has many values; write it on the left with ANY or ALL.")
        }
        if comparison.operator == .matches, case .constant(.string(let pattern)) = right {
            _ = try PatternMatcher.comparing(pattern, comparison.folding)
        }
    }

    func refusal(_ code: StrataError.Code, _ path: ResolvedPath?, _ sentence: String) -> StrataError {
        StrataError(
            code, sentence,
            context: .init(entityName: entity.name, key: path?.text, predicate: comparison.description))
    }
}
