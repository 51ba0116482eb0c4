import Locking

// Apps use few format strings, again and again with other arguments. If each argument is a whole side of a comparison,
// or a member of a list there, the tree does not depend on the arguments, and the parser's result is kept as a
// template. Elsewhere (in key paths, in calls, after a minus) arguments affect parsing, and the string is parsed each
// time.

/// A parsed format string with slots for its arguments.
final class FormatTemplate: Sendable {
    private let tree: FetchPredicate
    /// The specifier of each slot, in the order of the tree, which is that of the string.
    private let slots: [FormatSpecifier]

    /// The expression that marks a slot in `tree`. No parsed variable has this name.
    static let slot = FetchExpression.variable("%")

    private init(tree: FetchPredicate, slots: [FormatSpecifier]) {
        self.tree = tree
        self.slots = slots
    }

    /// The template of a format string; nil if the arguments affect parsing.
    static func of(_ format: String) -> FormatTemplate? {
        let template: FormatTemplate
        do throws(FetchFormatError) {
            var parser = try FormatParser(format, .slots)
            let tree = try parser.parsePredicate()
            template = FormatTemplate(tree: tree, slots: parser.slots)
        } catch {
            return nil
        }
        // A list in a slot adds a level.
        let isShallow = template.tree.depth(upTo: PredicateLimits.depth - 1) != nil
        return isShallow && slotCount(in: template.tree) == template.slots.count ? template : nil
    }

    /// The predicate with the arguments in its slots; nil if the string must be parsed, also to report a wrong
    /// argument.
    func predicate(_ arguments: [FetchExpression]) -> FetchPredicate? {
        guard arguments.count == slots.count else { return nil }
        if slots.isEmpty { return tree }
        var values: [FetchExpression] = []
        values.reserveCapacity(slots.count)
        for (slot, argument) in zip(slots, arguments) {
            guard argument.isWhole, let value = slot.accept(argument) else { return nil }
            values.append(value)
        }
        var rest = values[...]
        return Self.filled(tree, &rest)
    }

    // MARK: Slots

    /// The number of slots that do not affect parsing.
    private static func slotCount(in predicate: FetchPredicate) -> Int {
        switch predicate {
        case .constant: 0
        case .not(let part): slotCount(in: part)
        case .and(let parts), .or(let parts): parts.reduce(0) { $0 + slotCount(in: $1) }
        case .comparison(let comparison): slotCount(in: comparison.left) + slotCount(in: comparison.right)
        }
    }

    private static func slotCount(in side: FetchExpression) -> Int {
        switch side {
        case slot: 1
        case .aggregate(let parts): parts.reduce(0) { $0 + ($1 == slot ? 1 : 0) }
        default: 0
        }
    }

    private static func filled(
        _ predicate: FetchPredicate, _ values: inout ArraySlice<FetchExpression>
    ) -> FetchPredicate {
        switch predicate {
        case .constant: return predicate
        case .not(let part): return .not(filled(part, &values))
        case .and(let parts): return .and(parts.map { filled($0, &values) })
        case .or(let parts): return .or(parts.map { filled($0, &values) })
        case .comparison(var comparison):
            comparison.left = filled(comparison.left, &values)
            comparison.right = filled(comparison.right, &values)
            return .comparison(comparison)
        }
    }

    private static func filled(
        _ side: FetchExpression, _ values: inout ArraySlice<FetchExpression>
    ) -> FetchExpression {
        switch side {
        case .variable("%"): return values.popFirst() ?? side
        case .aggregate(let parts) where parts.contains(slot):
            return .aggregate(parts.map { $0 == slot ? values.popFirst() ?? $0 : $0 })
        default: return side
        }
    }
}

extension FetchExpression {
    /// Whether the expression can fill a slot unchanged.
    fileprivate var isWhole: Bool {
        switch self {
        case .constant, .keyPath, .evaluatedObject: true
        case .aggregate(let parts): parts.allSatisfy { if case .constant = $0 { true } else { false } }
        default: false
        }
    }
}

/// The cache of parsed format strings; a mutex guards `known`.
final class FormatCache: Sendable {
    static let shared = FormatCache()

    /// More than an app has in its source; the limit is for formats that are composed at run time.
    private static let mostFormats = 512
    private static let mostBytes = 1024

    private enum Knowledge {
        case seenOnce
        case kept(FormatTemplate)
        /// Must be parsed each time.
        case isVariable
    }

    private let known = Locked<[String: Knowledge]>([:])

    /// The predicate of a format string with its arguments, if the cache has a template that fits; else nil.
    func predicate(_ format: String, _ arguments: [FetchExpression]) -> FetchPredicate? {
        guard case .kept(let template)? = known.withLock({ $0[format] }) else { return nil }
        return template.predicate(arguments)
    }

    /// Records that a format string was parsed as `predicate`.
    func note(_ format: String, _ arguments: [FetchExpression], _ predicate: FetchPredicate) {
        guard format.utf8.count <= Self.mostBytes else { return }
        let isSecond = known.withLock { known in
            switch known[format] {
            case .seenOnce?: return true
            case .kept?, .isVariable?: return false
            case nil:
                if known.count >= Self.mostFormats { known.removeAll(keepingCapacity: true) }
                known[format] = .seenOnce
                return false
            }
        }
        guard isSecond else { return }
        let template = FormatTemplate.of(format)
        let isRight = arguments.allSatisfy(\.isWhole) && template?.predicate(arguments) == predicate
        known.withLock { $0[format] = template.flatMap { isRight ? .kept($0) : nil } ?? .isVariable }
    }
}
