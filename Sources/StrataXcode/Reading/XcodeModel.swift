public import Foundation
public import StrataModel

/// One version of a model as read from an Xcode file, before it is checked.
///
/// ```swift
/// let bundle = try XcodeModelBundle(contentsOf: URL(filePath: "Movies.xcdatamodeld"))
/// let model = try bundle.model().managedObjectModel()
/// ```
public struct XcodeModel: Sendable {
    /// The version's name: the file name of the `.xcdatamodel` without extension.
    public let name: String
    /// The entities in the order of the file.
    public let entities: [EntityDescription]
    /// The parts of the file that have no effect in Strata, in the order of the file.
    public let diagnostics: [XcodeDiagnostic]
    private let supplement: ModelSupplement

    init(
        name: String, entities: [EntityDescription], supplement: ModelSupplement, diagnostics: [XcodeDiagnostic]
    ) {
        self.name = name
        self.entities = entities
        self.supplement = supplement
        self.diagnostics = diagnostics
    }

    /// Reads the `contents` file of an `.xcdatamodel`, or the binary file `elements` that Xcode wrote in its place
    /// before version 4.
    ///
    /// - Throws: `invalidModelFile` with the line and column, and a `ModelFileError` as its cause; for `elements`, with
    ///   what to do.
    public init(contents: Data, name: String, path: String? = nil) throws(StrataError) {
        let bytes = Array(contents)
        if bytes.starts(with: BinaryPropertyList.signature) {
            self = try Self.read(elements: bytes, name, path)
            return
        }
        let file: XcodeModel
        do throws(ModelFileError) {
            file = try ModelReader.read(try XMLReader.read(bytes), name: name)
        } catch {
            throw StrataError(
                .invalidModelFile, "The model \(name), \(error)", context: .init(path: path), cause: error)
        }
        self = contents.last == UInt8(ascii: "\n") ? file.endingInNewline : file
    }

    private static func read(elements bytes: [UInt8], _ name: String, _ path: String?) throws(StrataError) -> XcodeModel
    {
        do {
            let (element, notes) = try ElementsReader.read(bytes)
            let file = try ModelReader.read(element, name: name)
            return XcodeModel(
                name: name, entities: file.entities, supplement: file.supplement,
                diagnostics: notes + file.diagnostics)
        } catch {
            let sentence = (error as? ArchiveError)?.sentence ?? "\(error)"
            throw StrataError(
                .invalidModelFile,
                "The model \(name) is a binary file from before Xcode 4 and cannot be read: \(sentence). Open it in "
                    + "Xcode and save it, which writes a file 'contents' in its place.",
                context: .init(path: path), cause: error)
        }
    }

    private var endingInNewline: XcodeModel {
        var supplement = supplement
        supplement.editorInfo[EditorNotes.newline] = ""
        return XcodeModel(name: name, entities: entities, supplement: supplement, diagnostics: diagnostics)
    }

    /// The checked model.
    ///
    /// - Throws: `invalidModel`; its `details` have all problems.
    public func managedObjectModel() throws(StrataError) -> ManagedObjectModel {
        try ManagedObjectModel(entities: entities).adding(
            fetchRequestTemplates: supplement.fetchRequestTemplates, fetchedProperties: supplement.fetchedProperties,
            configurations: supplement.configurations, versionIdentifier: supplement.versionIdentifier,
            editorInfo: supplement.editorInfo)
    }
}
