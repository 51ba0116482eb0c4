extension Schema {
    /// An object as people name it, `BowTie/p12`; entities that the schema does not know are numbers.
    package func name(of object: ObjectID) -> String {
        "\(entity(object.entityID)?.name ?? String(object.entityID.rawValue))/p\(object.row)"
    }
}
