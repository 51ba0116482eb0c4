import StrataModel

/// A predicate without its constants, compiled for an entity: computed once for all predicates that differ in nothing
/// else.
///
/// Its functions walk it together with a predicate, which provides the constants.
indirect enum PredicateTemplate: Sendable {
    /// All parts hold; `isNegated` if it was an OR inside a NOT.
    case all([PredicateTemplate], isNegated: Bool)
    /// One part holds; `isNegated` if it was an AND inside a NOT.
    case any([PredicateTemplate], isNegated: Bool)
    /// The part of a NOT, compiled with the opposite operators.
    case inverted(PredicateTemplate)
    /// A comparison of a path with constants, and the comparison without them.
    case leaf(LeafCompiler, ComparisonPredicate, isNegated: Bool)
    /// A part that is valid only for an equal node.
    case fixed(CompiledCondition, FetchPredicate)

    // MARK: Binding

    /// Appends the conditions of a predicate of this shape.
    ///
    /// - Returns: false for a predicate of another shape, or with constants that must be refused. Then `conditions` is
    ///   incomplete.
    func bind(
        _ predicate: FetchPredicate, into conditions: inout [CompiledCondition]
    ) throws(StrataError) -> Bool {
        switch (self, predicate) {
        case (.all(let templates, false), .and(let parts)), (.all(let templates, true), .or(let parts)):
            guard templates.count == parts.count else { return false }
            for (template, part) in zip(templates, parts) {
                guard try template.bind(part, into: &conditions) else { return false }
            }
            return true
        case (.any(let templates, false), .or(let parts)), (.any(let templates, true), .and(let parts)):
            guard templates.count == parts.count else { return false }
            var lists: [[CompiledCondition]] = []
            for (template, part) in zip(templates, parts) {
                var list: [CompiledCondition] = []
                guard try template.bind(part, into: &list) else { return false }
                lists.append(list)
            }
            let isNegated = if case .and = predicate { true } else { false }
            conditions.append(Self.disjunction(lists, isNegated ? .not(predicate) : predicate))
            return true
        case (.inverted(let template), .not(let part)): return try template.bind(part, into: &conditions)
        case (.leaf(let leaf, _, let isNegated), .comparison(let comparison)):
            guard let values = leaf.values(of: comparison) else { return false }
            let compiled = try leaf.compiled(values, predicate)
            conditions.append(
                isNegated ? CompiledCondition(NotCondition(compiled.row), .not(predicate)) : compiled)
            return true
        case (.fixed(let condition, _), _):
            conditions.append(condition)
            return true
        default: return false
        }
    }

    private static func disjunction(
        _ lists: [[CompiledCondition]], _ predicate: FetchPredicate
    ) -> CompiledCondition {
        let parts = lists.map { list in
            list.count == 1 ? list[0] : CompiledCondition(JunctionCondition(.and, list), .and(list.map(\.predicate)))
        }
        return CompiledCondition(
            JunctionCondition(.or, parts), predicate,
            // If one list can only be found by a scan, the disjunction can only be found by a scan.
            access: lists.allSatisfy { $0.contains { $0.access != nil } } ? .any(lists) : nil)
    }

    /// Whether the constants of a predicate of this shape are known to be valid. Of a pattern that is not known before
    /// it is compiled.
    func accepts(_ predicate: FetchPredicate) -> Bool {
        switch (self, predicate) {
        case (.all(let templates, _), .and(let parts)), (.all(let templates, _), .or(let parts)),
            (.any(let templates, _), .and(let parts)), (.any(let templates, _), .or(let parts)):
            return templates.count == parts.count && zip(templates, parts).allSatisfy { $0.accepts($1) }
        case (.inverted(let template), .not(let part)): return template.accepts(part)
        case (.leaf(let leaf, _, _), .comparison(let comparison)):
            return leaf.operation != .matches && leaf.values(of: comparison) != nil
        case (.fixed, _): return true
        default: return false
        }
    }

    // MARK: Columns alone

    /// Appends, for each conjunct of a predicate of this shape, the form that an index can answer, without conditions
    /// for rows.
    ///
    /// - Returns: false unless every conjunct compares a property of the row with constants.
    func appendColumns(_ predicate: FetchPredicate, to columns: inout [ColumnCondition?]) -> Bool {
        switch (self, predicate) {
        case (.leaf(let leaf, _, false), .comparison(let comparison)):
            guard let values = leaf.values(of: comparison), let column = leaf.column(values) else { return false }
            columns.append(column)
            return true
        case (.all(let templates, false), .and(let parts)):
            for (template, part) in zip(templates, parts) {
                guard template.appendColumns(part, to: &columns) else { return false }
            }
            return true
        default: return false
        }
    }

    /// The form that an index at the far end can answer, of a predicate of this shape that is one comparison behind one
    /// hop.
    func farColumn(_ predicate: FetchPredicate) -> ColumnCondition? {
        guard case .leaf(let leaf, _, false) = self, case .comparison(let comparison) = predicate,
            let values = leaf.values(of: comparison)
        else { return nil }
        return leaf.farColumn(values)
    }

    /// The entity behind the hop of the only comparison.
    var farEntity: EntitySchema? {
        if case .leaf(let leaf, _, false) = self, leaf.path.hops.count == 1 { leaf.path.entity } else { nil }
    }

    // MARK: One key alone

    /// The value that an index looks up for a predicate of this shape that is one equality on a property of the row.
    func key(_ predicate: FetchPredicate) -> AttributeValue? {
        guard case .leaf(let leaf, _, false) = self, case .comparison(let comparison) = predicate else { return nil }
        return leaf.key(comparison)
    }

    func key(_ constant: AttributeValue) -> AttributeValue? {
        if case .leaf(let leaf, _, false) = self { leaf.key(constant) } else { nil }
    }

    /// The index that answers such a predicate, if it is over the property alone.
    func point(_ access: IndexAccess, _ index: IndexMap.PreparedIndex) -> IndexPoint? {
        guard case .leaf(let leaf, _, false) = self, leaf.hasKey, index.index.elements.count == 1,
            index.index.elements[0].folding == leaf.columnFolding
        else { return nil }
        return IndexPoint(access, index.codec)
    }

    // MARK: Shape

    /// Whether a predicate has this shape, whatever its constants.
    func fits(_ predicate: FetchPredicate) -> Bool {
        switch (self, predicate) {
        case (.leaf(_, let known, _), .comparison(let comparison)): return known.hasShape(of: comparison)
        case (.all(let templates, false), .and(let parts)), (.all(let templates, true), .or(let parts)),
            (.any(let templates, false), .or(let parts)), (.any(let templates, true), .and(let parts)):
            return templates.count == parts.count && zip(templates, parts).allSatisfy { $0.fits($1) }
        case (.inverted(let template), .not(let part)): return template.fits(part)
        case (.fixed(_, let known), _): return known == predicate
        default: return false
        }
    }
}

extension ComparisonCompiler.Compiled {
    func bound(to comparison: ComparisonPredicate) throws(StrataError) -> CompiledCondition {
        switch self {
        case .condition(let condition): return condition
        case .leaf(let leaf):
            guard let values = leaf.values(of: comparison) else {
                throw StrataError(
                    .wrongType, "The constants cannot be compared with the property.",
                    context: .init(key: leaf.path.text, predicate: comparison.description))
            }
            return try leaf.compiled(values, .comparison(comparison))
        }
    }
}

extension ComparisonPredicate {
    /// The comparison without its constants.
    var shape: ComparisonPredicate {
        var shape = self
        if case .aggregate = right { shape.right = .aggregate([]) } else { shape.right = .constant(.null) }
        return shape
    }

    /// Whether both differ at most in the constants on their right sides.
    fileprivate func hasShape(of other: ComparisonPredicate) -> Bool {
        guard `operator` == other.operator, modifier == other.modifier, folding == other.folding else { return false }
        switch (right, other.right) {
        case (.constant, .constant), (.aggregate, .aggregate): break
        default: return false
        }
        switch (left, other.left) {
        case (.keyPath(let path), .keyPath(let otherPath)): return path == otherPath
        case (.evaluatedObject, .evaluatedObject): return true
        default: return false
        }
    }
}
