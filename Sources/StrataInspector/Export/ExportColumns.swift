import StrataModel

/// The columns of an export.
enum ExportColumns {
    /// - Parameters:
    ///   - text: the columns; nil for every attribute and to-one. A to-one is named by an attribute that the model says is
    ///     unique there, else by reference.
    ///   - moment: the moment whose names the columns get.
    ///   - namesAll: whether every object of an entity has a value of that attribute; otherwise it cannot name them.
    static func columns(
        _ text: String?, of entity: EntitySchema, _ moment: StoreMoment,
        namesAll: (EntityID, String) throws -> Bool
    ) throws -> [OutputColumn] {
        if let text { return try ColumnText.parse(text, of: entity, at: moment) }
        return try entity.properties.filter(\.isVisibleInRow).map { property in
            guard let destination = property.relationship?.destination,
                let key = LinkNames.uniqueKey(of: destination, moment.schema), try namesAll(destination, key)
            else { return OutputColumn(property.name) }
            return OutputColumn("\(property.name).\(key)")
        }
    }
}
