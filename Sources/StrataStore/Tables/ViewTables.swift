import LMDB
import StrataModel
import Synchronization

/// The tables of declared views.
final class ViewTables: Sendable {
    /// The states of the groups.
    let groups: Table
    /// The values of a group that its record does not have, for aggregates that need them.
    let values: Table
    /// The groups in the orders that views declare.
    let orders: Table
    /// The words of full texts; nil in stores that never had one.
    let texts: Table?

    /// In the order of `StoreTables.declaredViewNames`, then the table of full texts.
    var all: [Table] { [groups, values, orders] + (texts.map { [$0] } ?? []) }

    /// Opens the tables of an environment, and makes them if they are missing.
    init(opening environment: Environment, hasTexts: Bool) throws {
        let names = StoreTables.declaredViewNames + (hasTexts ? [StoreTables.textName] : [])
        let tables = try environment.openTables(names)
        (groups, values, orders) = (tables[0], tables[1], tables[2])
        texts = hasTexts ? tables[3] : nil
    }
}

/// The tables of declared views that an environment has open. They are opened with the store, or when the first view or
/// full text is declared after that, and stay open.
final class OpenViewTables: Sendable {
    private let withoutTexts = AtomicLazyReference<ViewTables>()
    private let withTexts = AtomicLazyReference<ViewTables>()

    var tables: ViewTables? { withTexts.load() ?? withoutTexts.load() }

    func open(_ tables: ViewTables) {
        _ = tables.texts == nil ? withoutTexts.storeIfNil(tables) : withTexts.storeIfNil(tables)
    }
}

/// A model needs tables of views that are not open, or that were opened after the transaction began.
///
/// It is thrown before anything is written. The code that began the transaction opens the tables and begins another one.
struct MissingViewTables: Error {
    /// Whether the table of full texts is needed, too.
    let hasTexts: Bool

    /// Opens the tables, and makes them if they are missing.
    func open(_ environment: Environment, for tables: StoreTables) throws {
        if let known = tables.views, known.texts != nil || !hasTexts { return }
        tables.use(try ViewTables(opening: environment, hasTexts: hasTexts))
    }

    /// Runs the work, and once more each time that it lacked tables: those of views, and that of full texts.
    static func opened<R>(_ environment: Environment, for tables: StoreTables, _ work: () throws -> R) throws -> R {
        for _ in 0..<3 {
            do { return try work() } catch let missing as MissingViewTables {
                try missing.open(environment, for: tables)
            }
        }
        return try work()
    }
}

extension StoreTables {
    /// Whether the tables that a model needs are open.
    func areOpen(for model: ManagedObjectModel) -> Bool {
        !model.needsViewTables || views.map { $0.texts != nil || !model.hasFullText } ?? false
    }

    /// Checks that a transaction can use the tables that a model needs.
    ///
    /// - Throws: `MissingViewTables`.
    func check(for model: ManagedObjectModel, _ transaction: ReadTransaction) throws {
        guard model.needsViewTables else { return }
        try checkViews(hasTexts: model.hasFullText, transaction)
    }

    /// - Throws: `MissingViewTables`.
    func checkViews(hasTexts: Bool, _ transaction: ReadTransaction) throws {
        guard let views, let last = hasTexts ? views.texts : views.orders, transaction.canUse(last) else {
            throw MissingViewTables(hasTexts: hasTexts)
        }
    }
}
