// The elements of an XML document, with their locations.

/// A location in a file. Lines and columns count from 1, columns in Unicode scalars.
public struct FileLocation: Sendable, Hashable {
    /// The number of the line, from 1.
    public let line: Int
    /// The number of the Unicode scalar in the line, from 1.
    public let column: Int

    /// A location with a line and a column.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}

/// An element of an XML document. Equality ignores the location.
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
    /// The attributes in the order of the file.
    package var attributes: [Attribute]
    package var children: [XMLElement]
    /// The text in the element, without white space at its ends.
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

/// The problem with a model file and its location. It is the `cause` of the `StrataError` that is thrown.
public struct ModelFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The location of the problem.
    public let location: FileLocation
    /// The problem as a phrase without a period.
    public let sentence: String

    package init(_ sentence: String, at location: FileLocation) {
        self.location = location
        self.sentence = sentence
    }

    /// The location and the problem.
    public var description: String { "line \(location.line), column \(location.column): \(sentence)" }
}
