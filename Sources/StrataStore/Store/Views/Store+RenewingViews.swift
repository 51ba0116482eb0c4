import LMDB
import StrataModel

extension Store {
    /// Has the declared views rebuilt if a build of before the first release with views kept them in a form that is no
    /// longer read. Until one is built, its rows are made of the objects.
    func renewViews() throws {
        guard !isReadOnly, file.header.hasFormerViews, let views = file.tables.views else { return }
        try file.writeDirectly { transaction in
            // Another process may have done it meanwhile.
            guard let bytes = try StoreFile.meta("header", file.tables, transaction),
                try StoreHeader(bytes).hasFormerViews
            else { return }
            for table in [views.groups, views.values, views.orders] { try transaction.clear(table) }
            try ViewProgress.removeAll(transaction, file.tables)
            if let schema = try StoreFile.modelsAtOpening(file.tables, transaction).newest {
                for view in try IndexMap.of(schema).views.inline { try file.tables.beginAnew(view, transaction) }
            }
            try StoreFile.changeHeader(file.tables, transaction) { $0.hasViews = true }
        }
    }
}
