// Checks the views that a model declares.

extension ModelCheck {
    /// Checks views; each problem is reported for the view's entity and its name.
    mutating func check(_ views: [ViewDescription]) {
        var seen: Set<String> = []
        for view in views {
            let subject = Subject(view.entityName, view.name)
            if let complaint = Self.complaint(aboutName: view.name) {
                report(subject, "is not a name for a view: \(complaint).")
            }
            if !seen.insert(view.name).inserted { report(subject, "is declared twice, as a view.") }
            if view.version < 1 { report(subject, "has the version \(view.version); versions begin with 1.") }
            checkColumns(of: view, at: subject)
            guard let entity = hierarchy.entity(named: view.entityName) else {
                let ending = hierarchy.ending(forEntity: view.entityName)
                report(subject, "is a view of an unknown entity, \(view.entityName)\(ending)")
                continue
            }
            for key in view.keys { check(key, of: entity, view: view.name) }
            if view.keys.count(where: { hierarchy.isToMany($0.keyPath, in: entity.name) }) > 1 {
                report(subject, "has several to-many relationships as keys; one is the most.")
            }
            for aggregate in view.aggregates { check(aggregate, of: entity, view: view.name) }
            if let predicate = view.predicate {
                checkCondition(predicate, of: entity, view: view.name)
            }
            checkOrders(of: view, at: subject)
        }
    }

    private mutating func checkColumns(of view: ViewDescription, at subject: Subject) {
        var seen: Set<String> = []
        for name in view.columnNames {
            if let complaint = complaint(aboutColumn: name) {
                report(subject, "has a column '\(name)', which is not a name: \(complaint).")
            }
            if !seen.insert(name).inserted { report(subject, "has two columns named \(name).") }
        }
        if view.aggregates.isEmpty { report(subject, "has no aggregate.") }
        let most = ModelLimits.columnsOfView
        if seen.count > most { report(subject, "has \(seen.count) columns; \(most) is the most.") }
    }

    /// A column may have the name of an element of a composite.
    private func complaint(aboutColumn name: String) -> String? {
        for part in name.split(separator: ".", omittingEmptySubsequences: false) {
            if let complaint = Self.complaint(aboutName: String(part)) { return complaint }
        }
        return nil
    }

    private mutating func check(_ key: ViewKey, of entity: EntityDescription, view: String) {
        let subject = Subject(entity.name, key.keyPath)
        let what = "key of the view \(view)"
        if key.isObject {
            if key.function != nil { report(Subject(entity.name, view), "has a key of an object by a function.") }
            return
        }
        if hierarchy.isToMany(key.keyPath, in: entity.name) {
            if key.function != nil { report(subject, "is a to-many relationship and has no parts, as a \(what).") }
            return
        }
        refuseEncrypted([key.keyPath], of: entity.name, in: "the view \(view)")
        if let complaint = hierarchy.complaint(aboutValuePath: key.keyPath, in: entity.name) {
            return report(subject, "\(complaint), as a \(what).")
        }
        let type = hierarchy.valueType(of: key.keyPath, in: entity.name)
        switch key.function {
        case nil: if type == .undefined { report(subject, "has no type, so it is no \(what).") }
        case .calendar(let part, let timeZone)?:
            if type != .date {
                report(subject, "is \(Self.name(type)) and has no \(part.rawValue), as a \(what).")
            }
            if !ZoneRules.isKnown(timeZone) {
                report(subject, "is to be in an unknown time zone, \(timeZone), as a \(what).")
            }
        case .bucket(let width)?:
            if type?.isNumeric != true {
                return report(subject, "is \(Self.name(type)) and has no buckets, as a \(what).")
            }
            if !width.isFinite || width <= 0 {
                report(subject, "has buckets \(width) wide, as a \(what); a width is above 0.")
            } else if type?.isInteger == true, Int64(exactly: width) == nil {
                report(subject, "is \(Self.name(type)); buckets \(width) wide are not whole, as a \(what).")
            }
        }
    }

    /// An order is by columns whose values have a bounded size in a key.
    private mutating func checkOrders(of view: ViewDescription, at subject: Subject) {
        if view.orders.isEmpty { return }
        if view.keys.isEmpty { report(subject, "has no keys, so its single row needs no order.") }
        let most = ModelLimits.ordersOfView
        if view.orders.count > most { report(subject, "has \(view.orders.count) orders; \(most) is the most.") }
        if Set(view.orders).count < view.orders.count { report(subject, "has the same order twice.") }
        for order in view.orders {
            let what = "has an order by \(order.columns.isEmpty ? "nothing" : order.description)"
            let most = ModelLimits.columnsOfOrder
            if !(1...most).contains(order.columns.count) {
                report(subject, "\(what); an order has 1 to \(most) columns.")
            }
            if Set(order.columns.map(\.keyPath)).count < order.columns.count {
                report(subject, "\(what), which names a column twice.")
            }
            for column in order.columns {
                if !column.isPlain { report(subject, "\(what); an order of a view folds nothing and has nil first.") }
                if let complaint = complaint(aboutOrder: column.keyPath, of: view) {
                    report(subject, "\(what), and \(complaint).")
                }
            }
        }
    }

    private func complaint(aboutOrder column: String, of view: ViewDescription) -> String? {
        if let key = view.keys.first(where: { $0.name == column }) {
            if key.function != nil || key.isObject || hierarchy.entity(named: view.entityName) == nil { return nil }
            switch hierarchy.valueType(of: key.keyPath, in: view.entityName) {
            case .string?, .uri?, .binaryData?, .transformable?:
                return "\(column) is of any length"
            default: return nil
            }
        }
        guard let aggregate = view.aggregates.first(where: { $0.name == column }) else {
            return "\(column) is no column" + NearestName.aside(for: column, among: view.columnNames)
        }
        if aggregate.function == .projection { return "\(column) is of any length" }
        return aggregate.function.isOrdered ? "\(column) is of an object that may change" : nil
    }

    private mutating func check(_ aggregate: ViewAggregate, of entity: EntityDescription, view: String) {
        let what = "\(aggregate.function.rawValue) of the view \(view)"
        let inputs = aggregate.projection?.inputs ?? []
        refuseEncrypted(
            [aggregate.keyPath, aggregate.orderPath].compactMap(\.self) + inputs, of: entity.name,
            in: "the view \(view)")
        if aggregate.function == .projection || aggregate.projection != nil {
            return checkProjection(aggregate, of: entity, what: what, view: view)
        }
        if aggregate.function.isOrdered {
            checkOrder(of: aggregate, entity, what: what, view: view)
        } else if aggregate.orderPath != nil || aggregate.limit != nil {
            report(
                Subject(entity.name, view), "has an aggregate \(aggregate.name) with an order, which it does not use.")
        }
        guard let path = aggregate.keyPath else {
            if aggregate.function != .count, !aggregate.function.isOrdered {
                report(Subject(entity.name, view), "has an aggregate \(aggregate.name) without a key path.")
            }
            return
        }
        let subject = Subject(entity.name, path)
        if let complaint = hierarchy.complaint(aboutValuePath: path, in: entity.name) {
            return report(subject, "\(complaint), in the \(what).")
        }
        let type = hierarchy.valueType(of: path, in: entity.name)
        switch aggregate.function {
        case .count, .first, .last, .projection: break
        case .countDistinct:
            if type == .undefined { report(subject, "has no type to be compared, in the \(what).") }
        case .sum, .average:
            if type?.isNumeric != true { report(subject, "is \(Self.name(type)) and has no sum, in the \(what).") }
        case .min, .max:
            if type?.isNumeric != true, type != .date {
                report(subject, "is \(Self.name(type)), neither a number nor a date, in the \(what).")
            }
        }
    }

    /// The order of a `first` or `last`.
    private mutating func checkOrder(
        of aggregate: ViewAggregate, _ entity: EntityDescription, what: String, view: String
    ) {
        let most = ModelLimits.objectsOfAggregate
        if let limit = aggregate.limit, !(1...most).contains(limit) {
            report(Subject(entity.name, view), "has \(limit) objects in the \(what); 1 to \(most) are possible.")
        }
        guard let path = aggregate.orderPath else {
            return report(Subject(entity.name, view), "has an aggregate \(aggregate.name) without an order.")
        }
        let subject = Subject(entity.name, path)
        if let complaint = hierarchy.complaint(aboutValuePath: path, in: entity.name) {
            return report(subject, "\(complaint), as the order of the \(what).")
        }
        let type = hierarchy.valueType(of: path, in: entity.name)
        if type?.isNumeric != true, type != .date {
            report(subject, "is \(Self.name(type)), neither a number nor a date, as the order of the \(what).")
        }
    }

    private mutating func checkProjection(
        _ aggregate: ViewAggregate, of entity: EntityDescription, what: String, view: String
    ) {
        let subject = Subject(entity.name, view)
        guard let projection = aggregate.projection, aggregate.function == .projection, !projection.typeName.isEmpty
        else { return report(subject, "has an aggregate \(aggregate.name) that names no type of the app.") }
        if aggregate.keyPath != nil || aggregate.orderPath != nil || aggregate.limit != nil {
            report(subject, "has a projection \(aggregate.name) with a key path, which it does not use.")
        }
        if Set(projection.inputs).count < projection.inputs.count {
            report(subject, "has a projection \(aggregate.name) that reads a property twice.")
        }
        for path in projection.inputs {
            if let complaint = hierarchy.complaint(aboutValuePath: path, in: entity.name) {
                report(Subject(entity.name, path), "\(complaint), in the \(what).")
            } else if hierarchy.valueType(of: path, in: entity.name) == .undefined {
                report(Subject(entity.name, path), "has no type, in the \(what).")
            }
        }
    }

    private static func name(_ type: AttributeType?) -> String { type?.nameWithArticle ?? "a relationship" }
}

extension EntityHierarchy {
    /// Follows the to-ones at the beginning of a path, except one that the path ends with.
    ///
    /// - Returns: the entity to which they lead, and the rest of the path.
    package func behindToOnes(_ path: String, in entityName: String) -> (entityName: String, path: String) {
        var entityName = entityName
        var steps = path.split(separator: ".", omittingEmptySubsequences: false)[...]
        while steps.count > 1, let step = steps.first,
            let relationship = declaration(of: String(step), in: entityName)?.property.relationship,
            !relationship.isToMany, !relationship.isTransient
        {
            entityName = relationship.destinationEntityName
            steps = steps.dropFirst()
        }
        return (entityName, steps.joined(separator: "."))
    }

    /// The type of the value at a path over to-ones into a row; nil for a to-one.
    package func valueType(of path: String, in entityName: String) -> AttributeType? {
        let end = behindToOnes(path, in: entityName)
        let part = keyPart(end.path, in: end.entityName)
        return part?.elements.last?.type ?? part?.declaration.property.attribute?.type
    }

    /// The reason why a path over to-ones has no value to group by, for the middle of a sentence.
    func complaint(aboutValuePath path: String, in entityName: String) -> String? {
        let end = behindToOnes(path, in: entityName)
        return complaint(aboutKeyPart: end.path, in: end.entityName)
    }
}
