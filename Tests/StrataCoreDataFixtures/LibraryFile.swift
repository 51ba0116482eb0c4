package import StrataModel

/// A file with every type of attribute, inheritance, and relationships of each kind.
package enum LibraryFile {
    package static let entities: [EntityDescription] = [
        EntityDescription(
            name: "Author",
            properties: [
                .attribute(AttributeDescription(name: "name", type: .string, isOptional: true)),
                .attribute(
                    AttributeDescription(
                        name: "workCount", type: .integer64, isOptional: true,
                        derivationExpression: .keyPath("works.@count"))),
                .relationship(
                    RelationshipDescription(
                        name: "works", destinationEntityName: "Work", inverseName: "author", isToMany: true,
                        isOrdered: true)),
                .relationship(
                    RelationshipDescription(
                        name: "portrait", destinationEntityName: "Portrait", inverseName: "author")),
            ], uniquenessConstraints: [["name"]], userInfo: ["table": "authors"]),
        EntityDescription(
            name: "Portrait",
            properties: [
                .attribute(
                    AttributeDescription(
                        name: "image", type: .binaryData, isOptional: true, allowsExternalBinaryDataStorage: true)),
                .relationship(
                    RelationshipDescription(
                        name: "author", destinationEntityName: "Author", inverseName: "portrait")),
            ]),
        EntityDescription(
            name: "Tag",
            properties: [
                .attribute(AttributeDescription(name: "word", type: .string, defaultValue: .string("none"))),
                .relationship(
                    RelationshipDescription(
                        name: "works", destinationEntityName: "Work", inverseName: "tags", isToMany: true)),
            ]),
        EntityDescription(
            name: "Work", isAbstract: true,
            properties: [
                .attribute(
                    AttributeDescription(
                        name: "title", type: .string, validationRules: [.length(minimum: 3, maximum: 50)])),
                .attribute(AttributeDescription(name: "pages", type: .integer16, isOptional: true)),
                .attribute(AttributeDescription(name: "copies", type: .integer32, isOptional: true)),
                .attribute(AttributeDescription(name: "words", type: .integer64, isOptional: true)),
                .attribute(AttributeDescription(name: "price", type: .decimal, isOptional: true)),
                .attribute(AttributeDescription(name: "weight", type: .double, isOptional: true)),
                .attribute(AttributeDescription(name: "rating", type: .float, isOptional: true)),
                .attribute(AttributeDescription(name: "isLent", type: .boolean, isOptional: true)),
                .attribute(AttributeDescription(name: "bought", type: .date, isOptional: true)),
                .attribute(AttributeDescription(name: "code", type: .uuid, isOptional: true)),
                .attribute(AttributeDescription(name: "page", type: .uri, isOptional: true)),
                .attribute(
                    AttributeDescription(
                        name: "shape", type: .transformable, isOptional: true, valueTransformerName: "Shape")),
                .relationship(
                    RelationshipDescription(name: "author", destinationEntityName: "Author", inverseName: "works")),
                .relationship(
                    RelationshipDescription(
                        name: "tags", destinationEntityName: "Tag", inverseName: "works", isToMany: true,
                        isOrdered: true)),
                .relationship(
                    RelationshipDescription(name: "sequel", destinationEntityName: "Work", hasNoInverse: true)),
            ]),
        EntityDescription(
            name: "Novel", superentityName: "Work",
            properties: [.attribute(AttributeDescription(name: "mark", type: .string, isOptional: true))]),
        EntityDescription(
            name: "Poem", superentityName: "Work",
            properties: [.attribute(AttributeDescription(name: "mark", type: .integer64, isOptional: true))]),
    ]

    package static let works = """
        ZCOPIES INTEGER, ZISLENT INTEGER, ZMARK1 INTEGER, ZPAGES INTEGER, ZWORDS INTEGER, ZAUTHOR INTEGER, \
        ZSEQUEL INTEGER, Z_FOK_AUTHOR INTEGER, ZBOUGHT TIMESTAMP, ZPRICE DECIMAL, ZWEIGHT FLOAT, ZRATING FLOAT, \
        ZTITLE VARCHAR, ZPAGE VARCHAR, ZMARK VARCHAR, ZCODE BLOB, ZSHAPE BLOB
        """

    /// Two authors, a portrait of one, three works of which one is the sequel of another that comes later, two tags.
    package static func fixture(moreRows: [String] = []) -> CoreDataFixture {
        CoreDataFixture(
            entities: entities,
            tables: [
                ("ZAUTHOR", "ZWORKCOUNT INTEGER, ZPORTRAIT INTEGER, ZNAME VARCHAR"),
                ("ZPORTRAIT", "ZAUTHOR INTEGER, ZIMAGE BLOB"), ("ZTAG", "ZWORD VARCHAR"), ("ZWORK", works),
            ],
            joins: [
                "CREATE TABLE Z_3WORKS (Z_3TAGS INTEGER, Z_4WORKS INTEGER, Z_FOK_3TAGS INTEGER, "
                    + "PRIMARY KEY (Z_3TAGS, Z_4WORKS))"
            ],
            rows: [
                "INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZPORTRAIT, ZWORKCOUNT, ZNAME) VALUES (1, 1, 1, 7, 2, 'Lem')",
                "INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZWORKCOUNT, ZNAME) VALUES (5, 1, 1, 1, 'Šrámek')",
                "INSERT INTO ZPORTRAIT (Z_PK, Z_ENT, Z_OPT, ZAUTHOR, ZIMAGE) VALUES (7, 2, 1, 1, x'01CAFE')",
                "INSERT INTO ZTAG VALUES (1, 3, 1, 'space'), (2, 3, 1, 'sea')",
                """
                INSERT INTO ZWORK (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZPAGES, ZCOPIES, ZWORDS, ZISLENT, ZAUTHOR, ZSEQUEL,
                Z_FOK_AUTHOR, ZBOUGHT, ZPRICE, ZWEIGHT, ZRATING, ZPAGE, ZMARK, ZCODE, ZSHAPE) VALUES
                (1, 5, 1, 'Solaris', -32768, 2147483647, 9223372036854775807, 1, 1, 3, 2048, 656438400.123456789,
                '12.99', 0.1, 4.5, 'https://example.org/a?b=1', 'a', x'00112233445566778899AABBCCDDEEFF', x'FF00'),
                (2, 6, 1, 'Waves', 0, 0, 0, 0, 5, NULL, 1024, -978307200, 7, 1e300, -0.5, NULL, NULL, NULL, NULL),
                (3, 5, 1, 'Fiasco', NULL, NULL, NULL, NULL, 1, 1, 1024, 0, NULL, NULL, NULL, NULL, 'b', NULL, x'')
                """,
                "INSERT INTO Z_3WORKS VALUES (1, 1, 2), (2, 1, 1), (1, 3, 1)",
            ] + moreRows)
    }
}
