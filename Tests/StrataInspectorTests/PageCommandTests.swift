import Foundation
import StrataModel
import Testing

/// The commands that the articles show are run as they stand there.
@Suite struct PageCommandTests {
    private static let pages = (0..<3).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        .appending(path: "Sources/Strata/Strata.docc")

    /// The lines of a page that begin with the tool's name, in blocks without a language.
    private static func commands(_ page: String) throws -> [String] {
        let text = try String(contentsOf: pages.appending(path: page), encoding: .utf8)
        return text.split(separator: "\n").filter { $0.hasPrefix("strata ") }.map(String.init)
    }

    /// Runs the commands one after the other in a folder, which is the home too.
    private func run(_ commands: [String], in folder: URL) throws {
        let path = folder.path(percentEncoded: false)
        for command in commands {
            let result = try Tool.shell(
                "cd '\(path)' && export HOME='\(path)' && strata() { \"$strata\" \"$@\"; } && \(command) < /dev/null")
            #expect(result.exitCode == 0, "\(command): \(result.output)")
        }
    }

    private func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(component: "page-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    private func write(_ entities: String, to model: URL) throws {
        let version = model.appending(path: "\(model.deletingPathExtension().lastPathComponent).xcdatamodel")
        try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
        let text = """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" sourceLanguage="Swift">
            \(entities)
            </model>
            """
        try Data(text.utf8).write(to: version.appending(path: "contents"))
    }

    @Test func theCommandsOfTheToolsPageWork() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try write(
            """
            <entity name="Film">
                <attribute name="title" attributeType="String"/>
                <attribute name="year" optional="YES" attributeType="Integer 16"/>
                <relationship name="studio" optional="YES" maxCount="1" destinationEntity="Studio" inverseName="films"
                    inverseEntity="Film"/>
            </entity>
            <entity name="Studio">
                <attribute name="name" attributeType="String"/>
                <relationship name="films" optional="YES" toMany="YES" destinationEntity="Film" inverseName="studio"
                    inverseEntity="Film"/>
            </entity>
            """, to: folder.appending(path: "Movies.xcdatamodeld"))
        let commands = try Self.commands("TheTool.md")
        #expect(commands.count == 5)
        try run(commands, in: folder)
    }

    /// The tutorial's app has made the store.
    @Test func theCommandsOfTheTutorialWork() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try write(
            """
            <entity name="Bookmark">
                <attribute name="stars" optional="YES" attributeType="Integer 64"/>
                <attribute name="title" attributeType="String"/>
                <relationship name="labels" optional="YES" toMany="YES" destinationEntity="Label"
                    inverseName="bookmarks" inverseEntity="Label"/>
            </entity>
            <entity name="Label">
                <attribute name="name" attributeType="String"/>
                <relationship name="bookmarks" optional="YES" toMany="YES" destinationEntity="Bookmark"
                    inverseName="labels" inverseEntity="Bookmark"/>
            </entity>
            """, to: folder.appending(path: "Bookmarks.xcdatamodeld"))
        let commands = try Self.commands("Tutorial.md")
        #expect(commands.count == 4)
        let store = "~/.local/share/Bookmarks/Bookmarks.strata"
        try run(
            [
                "mkdir -p ~/.local/share/Bookmarks", "strata create \(store) --model Bookmarks.xcdatamodeld",
                "strata insert \(store) Bookmark title=Swift stars=5",
            ] + commands, in: folder)
    }
}
