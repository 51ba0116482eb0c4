/// The request of a `FETCH(request, context, countOnly)` expression.
///
/// Trees and format strings hold it as a composite: `{: "entity": "Movie", "predicate": "rating > 4", "limit": 10}`.
/// Its predicate is about the objects that it fetches, not about the object of the outer expression, so it is fetched
/// once for all rows of a request.
package struct NestedFetch: Sendable, Hashable {
    package var entityName: String
    package var predicate: FetchPredicate?
    package var sort: [SortDescription]
    package var limit: Int
    package var offset: Int
    package var includesSubentities: Bool

    package init(
        entityName: String, predicate: FetchPredicate? = nil, sort: [SortDescription] = [], limit: Int = 0,
        offset: Int = 0, includesSubentities: Bool = true
    ) {
        self.entityName = entityName
        self.predicate = predicate
        self.sort = sort
        self.limit = limit
        self.offset = offset
        self.includesSubentities = includesSubentities
    }

    // MARK: As a composite

    private enum Name {
        static let entity = "entity", predicate = "predicate", limit = "limit", offset = "offset", sort = "sort"
        static let subentities = "subentities"
        static let key = "key", isAscending = "ascending", folding = "options", isNatural = "natural", nulls = "nil"
        static let all: Set = [entity, predicate, limit, offset, sort, subentities]
    }

    /// The request as a composite.
    package var value: AttributeValue {
        var elements: [String: AttributeValue] = [Name.entity: .string(entityName)]
        if let predicate { elements[Name.predicate] = .string(predicate.description) }
        if limit != 0 { elements[Name.limit] = .integer(Int64(limit)) }
        if offset != 0 { elements[Name.offset] = .integer(Int64(offset)) }
        if !includesSubentities { elements[Name.subentities] = .boolean(false) }
        if !sort.isEmpty {
            let keys = sort.enumerated().map { ("\($0.offset)", Self.value(of: $0.element)) }
            elements[Name.sort] = .composite(Dictionary(keys, uniquingKeysWith: { first, _ in first }))
        }
        return .composite(elements)
    }

    private static func value(of sort: SortDescription) -> AttributeValue {
        var elements: [String: AttributeValue] = [Name.key: .string(sort.keyPath)]
        if !sort.isAscending { elements[Name.isAscending] = .boolean(false) }
        if !sort.folding.isEmpty { elements[Name.folding] = .integer(Int64(sort.folding.rawValue)) }
        if sort.isNatural { elements[Name.isNatural] = .boolean(true) }
        if sort.nullPlacement != .smallest { elements[Name.nulls] = .string(sort.nullPlacement.rawValue) }
        return .composite(elements)
    }

    /// Reads a request from its composite. The name of an entity alone requests all its objects.
    ///
    /// - Throws: `invalidRequest` if the value is not a request, or its predicate cannot be read.
    package init(_ value: AttributeValue) throws(StrataError) {
        if case .string(let name) = value {
            self.init(entityName: name)
            return
        }
        guard case .composite(let elements) = value, case .string(let name)? = elements[Name.entity],
            Name.all.isSuperset(of: elements.keys)
        else { throw Self.noRequest }
        self.init(entityName: name)
        if let text = elements[Name.predicate] {
            guard case .string(let format) = text else { throw Self.noRequest }
            predicate = try FetchPredicate(nestedFormat: format)
        }
        limit = try Self.number(elements[Name.limit])
        offset = try Self.number(elements[Name.offset])
        includesSubentities = elements[Name.subentities] != .boolean(false)
        guard let list = elements[Name.sort] else { return }
        guard case .composite(let keys) = list else { throw Self.noRequest }
        for index in 0..<keys.count {
            guard let key = keys["\(index)"] else { throw Self.noRequest }
            sort.append(try Self.sort(key))
        }
    }

    private static func sort(_ value: AttributeValue) throws(StrataError) -> SortDescription {
        guard case .composite(let elements) = value, case .string(let key)? = elements[Name.key] else {
            throw noRequest
        }
        var nulls = SortDescription.NullPlacement.smallest
        if case .string(let name)? = elements[Name.nulls] {
            guard let placement = SortDescription.NullPlacement(rawValue: name) else { throw noRequest }
            nulls = placement
        }
        let folding = StringFolding(rawValue: .init(truncatingIfNeeded: try number(elements[Name.folding])))
        return SortDescription(
            key, isAscending: elements[Name.isAscending] != .boolean(false), folding: folding,
            isNatural: elements[Name.isNatural] == .boolean(true), nullPlacement: nulls)
    }

    private static func number(_ value: AttributeValue?) throws(StrataError) -> Int {
        guard let value else { return 0 }
        guard case .integer(let number) = value, let count = Int(exactly: number), count >= 0 else { throw noRequest }
        return count
    }

    private static var noRequest: StrataError {
        StrataError(
            .invalidRequest,
            #"FETCH takes a request: a FetchRequest for %@, or {: "entity": "Name", "predicate": "…", "limit": 1}."#)
    }
}

extension FetchFunction {
    /// The arguments of `fetch`: the request, and whether it only counts.
    ///
    /// - Throws: `invalidRequest` unless both are literals.
    package static func fetchArguments(
        _ arguments: [FetchExpression]
    ) throws(StrataError) -> (request: AttributeValue, countOnly: Bool) {
        guard arguments.count == 3, case .constant(let request) = arguments[0] else {
            throw StrataError(.invalidRequest, "FETCH takes a request, a context, and YES or NO for counting only.")
        }
        guard case .constant(.boolean(let countOnly)) = arguments[2] else {
            throw StrataError(.invalidRequest, "The third argument of FETCH must be YES (count only) or NO.")
        }
        return (request, countOnly)
    }

    /// The arguments of `fetch` with the request read.
    ///
    /// - Throws: `invalidRequest`.
    package static func nestedFetch(
        _ arguments: [FetchExpression]
    ) throws(StrataError) -> (request: NestedFetch, countOnly: Bool) {
        let (request, countOnly) = try fetchArguments(arguments)
        return (try NestedFetch(request), countOnly)
    }
}
