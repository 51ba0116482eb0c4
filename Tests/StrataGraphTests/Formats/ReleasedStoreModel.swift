import StrataModel

/// The two models of the fixture stores: the second one renames, converts and adds attributes of the first.
enum ReleasedStoreModel {
    static func first() throws -> ManagedObjectModel { try model(isSecond: false) }
    static func second() throws -> ManagedObjectModel { try model(isSecond: true) }

    private static func model(isSecond: Bool) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            studio(), work(), try film(isSecond: isSecond), series(), poster(), person(isSecond: isSecond), label(),
        ])
    }

    private static func attribute(
        _ name: String, _ type: AttributeType, isOptional: Bool = true, default value: AttributeValue? = nil,
        formerly: String? = nil
    ) -> PropertyDescription {
        .attribute(
            AttributeDescription(
                name: name, type: type, isOptional: isOptional, defaultValue: value, renamingIdentifier: formerly))
    }

    private static func derived(
        _ name: String, _ type: AttributeType, _ format: String, isOptional: Bool = true
    ) throws -> PropertyDescription {
        .attribute(
            AttributeDescription(
                name: name, type: type, isOptional: isOptional,
                derivationExpression: try FetchExpression(format: format)))
    }

    private static func link(
        _ name: String, _ target: String, _ inverse: String?, isToMany: Bool = false, isOrdered: Bool = false,
        _ rule: DeleteRule = .nullify
    ) -> PropertyDescription {
        .relationship(
            RelationshipDescription(
                name: name, destinationEntityName: target, inverseName: inverse, hasNoInverse: inverse == nil,
                isToMany: isToMany, isOrdered: isOrdered, deleteRule: rule))
    }

    /// Owns works in an order; deletes them with itself.
    private static func studio() throws -> EntityDescription {
        EntityDescription(
            name: "Studio",
            properties: [
                attribute("name", .string, isOptional: false),
                link("works", "Work", "studio", isToMany: true, isOrdered: true, .cascade),
                try derived("workCount", .integer64, "works.@count", isOptional: false),
            ],
            uniquenessConstraints: [["name"]])
    }

    private static func work() -> EntityDescription {
        EntityDescription(
            name: "Work", isAbstract: true,
            properties: [
                attribute("title", .string, isOptional: false), attribute("year", .integer32),
                link("studio", "Studio", "works"), link("labels", "Label", "works", isToMany: true),
            ],
            indexes: [
                FetchIndexDescription(
                    name: "byTitle",
                    elements: [
                        FetchIndexElement("title", folding: [.caseInsensitive, .diacriticInsensitive]),
                        FetchIndexElement("year", isAscending: false),
                    ])
            ])
    }

    /// An attribute of each type, a one-to-one, a to-one and a to-many without inverse.
    private static func film(isSecond: Bool) throws -> EntityDescription {
        let rating = isSecond ? "score" : "rating"
        return EntityDescription(
            name: "Film", superentityName: "Work",
            properties: [
                attribute(
                    rating, .double, isOptional: false, default: .double(0), formerly: isSecond ? "rating" : nil),
                attribute("minutes", isSecond ? .string : .integer16), attribute("views", .integer64),
                attribute("grade", .float), attribute("price", .decimal), attribute("seen", .date),
                attribute("code", .uuid), attribute("page", .uri),
                attribute("isShort", .boolean, isOptional: false, default: .boolean(false)),
                attribute("note", .binaryData),
                .attribute(
                    AttributeDescription(
                        name: "still", type: .binaryData, isOptional: true, allowsExternalBinaryDataStorage: true)),
                .attribute(
                    AttributeDescription(
                        name: "frame", type: .composite, isOptional: true,
                        elements: [
                            AttributeDescription(name: "width", type: .integer32, isOptional: true),
                            AttributeDescription(name: "ratio", type: .double, isOptional: true),
                        ])),
                try derived("sortTitle", .string, "canonical:(title)"),
                link("poster", "Poster", "film", .cascade), link("director", "Person", nil),
                link("crew", "Person", nil, isToMany: true),
            ],
            indexes: [
                FetchIndexDescription(name: "byRating", elements: [FetchIndexElement(rating)]),
                FetchIndexDescription(
                    name: "shortByViews", elements: [FetchIndexElement("views")],
                    partialIndexPredicate: try FetchPredicate(format: "isShort == YES")),
            ])
    }

    private static func series() -> EntityDescription {
        EntityDescription(
            name: "Series", superentityName: "Work",
            properties: [attribute("seasons", .integer16, isOptional: false, default: .integer(1))])
    }

    private static func poster() -> EntityDescription {
        EntityDescription(
            name: "Poster", properties: [attribute("colour", .string), link("film", "Film", "poster")],
            indexes: [FetchIndexDescription(name: "byColour", elements: [FetchIndexElement("colour")])])
    }

    private static func person(isSecond: Bool) -> EntityDescription {
        var properties = [attribute("name", .string, isOptional: false)]
        if isSecond { properties.append(attribute("born", .integer32, isOptional: false, default: .integer(1900))) }
        return EntityDescription(name: "Person", properties: properties)
    }

    /// Shared by works, which stand in an order at this end.
    private static func label() -> EntityDescription {
        EntityDescription(
            name: "Label",
            properties: [
                attribute("text", .string, isOptional: false),
                link("works", "Work", "labels", isToMany: true, isOrdered: true),
            ],
            uniquenessConstraints: [["text"]])
    }
}
