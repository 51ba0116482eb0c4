/// Where something stands in a file; both count from 1, columns in Unicode scalars.
public struct FileLocation: Sendable, Hashable {
    public let line: Int
    public let column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}

/// An element of a document; two are equal whatever their locations.
package struct XMLElement: Sendable, Hashable {
    package struct Attribute: Sendable, Hashable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    package var name: String
    /// In the order of the file.
    package var attributes: [Attribute]
    package var children: [XMLElement]
    /// What stands between the children, without white space at both ends.
    package var text: String
    package var location: FileLocation

    package init(
        _ name: String, _ attributes: [Attribute] = [], children: [XMLElement] = [], text: String = "",
        location: FileLocation = FileLocation(line: 1, column: 1)
    ) {
        self.name = name
        self.attributes = attributes
        self.children = children
        self.text = text
        self.location = location
    }

    package subscript(name: String) -> String? { attributes.first { $0.name == name }?.value }

    package func children(named name: String) -> [XMLElement] { children.filter { $0.name == name } }

    package static func == (left: XMLElement, right: XMLElement) -> Bool {
        left.name == right.name && left.attributes == right.attributes && left.children == right.children
            && left.text == right.text
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(attributes)
        hasher.combine(children)
        hasher.combine(text)
    }
}

/// What is wrong with a file, and where.
public struct ModelFileError: Error, Sendable, Hashable, CustomStringConvertible {
    public let location: FileLocation
    public let sentence: String

    package init(_ sentence: String, at location: FileLocation) {
        self.location = location
        self.sentence = sentence
    }

    public var description: String { "line \(location.line), column \(location.column): \(sentence)" }
}
