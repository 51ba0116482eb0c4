import StrataModel

/// An entity as the projector uses it, looked up once for consecutive events on its rows.
final class ProjectedEntity {
    /// An index that contains the row, and the properties that its entry depends on.
    struct FiledIndex {
        let index: IndexMap.PreparedIndex
        let isPartial: Bool
        let properties: [PropertyID]

        func isTouched(by changed: [PropertyID]) -> Bool { isPartial || properties.contains(where: changed.contains) }
    }

    let schema: EntitySchema
    let layout: RowLayout
    let plan: IndexMap
    let links: [RowLink]
    let indexes: [FiledIndex]
    /// The declared views that may group the row, and depend on no other row.
    let views: [PreparedView]
    /// The evaluation for views without a condition.
    private let evaluation: Evaluation
    /// The full text that the row is in.
    let text: PreparedText?
    /// Whether a declared view that crosses relationships reads the row.
    let isWatched: Bool

    init(_ schema: EntitySchema, _ links: LinkMap, _ plan: IndexMap) throws {
        self.schema = schema
        self.plan = plan
        layout = schema.layout
        self.links = links.rowLinks(of: schema.id)
        views = try plan.views.ownRowViews(of: schema.id)
        evaluation = Evaluation(ownRowOf: plan.schema)
        text = try plan.texts.text(of: schema.id)
        isWatched = try plan.views.isWatched(schema.id)
        indexes = try plan.indexes(of: schema.id).map { index in
            FiledIndex(
                index: index, isPartial: index.index.partialPredicate != nil,
                properties: index.index.elements.map(\.propertyID))
        }
    }

    /// Returns the evaluation with which a row is added to a view. A condition remembers its results, so it needs a new
    /// one for each row.
    func evaluation(for view: PreparedView) -> Evaluation {
        view.hasCondition ? Evaluation(ownRowOf: plan.schema) : evaluation
    }
}

/// The entities of a model as the projector uses them. The last one is kept, because consecutive rows are mostly of one
/// entity.
struct ProjectedEntities {
    private let schema: Schema?
    private var last: ProjectedEntity?

    init(_ schema: Schema?) { self.schema = schema }

    /// Nil for an entity that the model does not have.
    ///
    /// - Throws: `invalidModel` for an index that cannot be made.
    subscript(_ id: EntityID) -> ProjectedEntity? {
        mutating get throws {
            if let last, last.schema.id == id { return last }
            guard let schema, let entity = schema.entity(id) else { return nil }
            last = try ProjectedEntity(entity, schema.links, IndexMap.of(schema))
            return last
        }
    }
}
