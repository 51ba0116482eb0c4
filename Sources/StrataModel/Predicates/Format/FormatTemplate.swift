import Locking

// The same few format strings are read again and again with other arguments. Where arguments stand whole on a side of a
// comparison, or in a list there, the tree is the same for all of them and is kept; elsewhere (in key paths, calls,
// behind a minus) they decide what is read, and the string is read each time.

/// A format string that was read once, with places for its arguments.
final class FormatTemplate: Sendable {
    private let tree: FetchPredicate
    /// What stands in each place, in the order of the tree, which is that of the string.
    private let slots: [FormatSpecifier]

    /// How a place is written in `tree`; no variable that can be read has this name.
    static let slot = FetchExpression.variable("%")

    private init(tree: FetchPredicate, slots: [FormatSpecifier]) {
        self.tree = tree
        self.slots = slots
    }

    /// nil when the arguments have a say in how the string is read.
    static func of(_ format: String) -> FormatTemplate? {
        let template: FormatTemplate
        do throws(FetchFormatError) {
            var parser = try FormatParser(format, .slots)
            let tree = try parser.parsePredicate()
            template = FormatTemplate(tree: tree, slots: parser.slots)
        } catch {
            return nil
        }
        // A list in a place is a level more.
        let isShallow = template.tree.depth(upTo: PredicateLimits.depth - 1) != nil
        return isShallow && places(in: template.tree) == template.slots.count ? template : nil
    }

    /// The predicate with the arguments in their places; nil when it takes reading the string to tell, or to say what is
    /// wrong with them.
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

    // MARK: Places

    /// How many places stand where they may.
    private static func places(in predicate: FetchPredicate) -> Int {
        switch predicate {
        case .constant: 0
        case .not(let part): places(in: part)
        case .and(let parts), .or(let parts): parts.reduce(0) { $0 + places(in: $1) }
        case .comparison(let comparison): places(in: comparison.left) + places(in: comparison.right)
        }
    }

    private static func places(in side: FetchExpression) -> Int {
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
    /// Whether it stays as it is wherever it stands.
    fileprivate var isWhole: Bool {
        switch self {
        case .constant, .keyPath, .evaluatedObject: true
        case .aggregate(let parts): parts.allSatisfy { if case .constant = $0 { true } else { false } }
        default: false
        }
    }
}

/// The format strings that were read last; `known` is guarded by its mutex.
final class FormatCache: Sendable {
    static let shared = FormatCache()

    /// More than an app writes down; those that are put together at run time must not pile up.
    private static let mostFormats = 512
    private static let mostBytes = 1024

    private enum Knowledge {
        case seenOnce
        case kept(FormatTemplate)
        /// Must be read each time.
        case isVariable
    }

    private let known = Locked<[String: Knowledge]>([:])

    /// The predicate of a string that was read before, if the arguments are such that it need not be read again.
    func predicate(_ format: String, _ arguments: [FetchExpression]) -> FetchPredicate? {
        guard case .kept(let template)? = known.withLock({ $0[format] }) else { return nil }
        return template.predicate(arguments)
    }

    /// Takes note of a string that was read as `predicate`.
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
