import Foundation
import Testing

/// Derived attributes of a model of Xcode's in a store that no app has ever opened.
@Suite final class DerivedCommandTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "derived-\(UUID().uuidString)")
    private var store: String { directory.appending(path: "S.strata").path(percentEncoded: false) }
    private var file: String { directory.appending(path: "Chat.xcdatamodel").path(percentEncoded: false) }

    private static let model = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
            <entity name="Chat">
                <attribute name="title" optional="YES" attributeType="String"/>
                <attribute name="key" optional="YES" attributeType="String" derived="YES" derivationExpression="canonical:(title)"/>
                <attribute name="messageCount" optional="YES" attributeType="Integer 64" derived="YES" derivationExpression="messages.@count"/>
                <attribute name="size" optional="YES" attributeType="Integer 64" derived="YES" derivationExpression="messages.length.@sum"/>
                <relationship name="messages" optional="YES" toMany="YES" deletionRule="Cascade" destinationEntity="Message" inverseName="chat" inverseEntity="Message"/>
                <fetchIndex name="byCount">
                    <fetchIndexElement property="messageCount" type="Binary" order="ascending"/>
                </fetchIndex>
            </entity>
            <entity name="Message">
                <attribute name="length" optional="YES" attributeType="Integer 32"/>
                <relationship name="chat" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Chat" inverseName="messages" inverseEntity="Chat"/>
            </entity>
        </model>

        """

    init() throws {
        try FileManager.default.createDirectory(
            at: directory.appending(path: "Chat.xcdatamodel"), withIntermediateDirectories: true)
        try Data(Self.model.utf8).write(to: directory.appending(path: "Chat.xcdatamodel/contents"))
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    private func rows(_ arguments: String...) throws -> String {
        try Tool.run(
            ["query", store, "Chat", "--columns", "key,messageCount,size", "--sort", "title", "--format", "csv"]
                + arguments
        ).output
    }

    @Test func aStoreDerivesWithoutAnyApp() throws {
        #expect(
            try Tool.run("model", "check", file)
                == .init(output: "sound: Chat, 2 entities, 7 properties\n", error: "", exitCode: 0))
        #expect(try Tool.run("create", store, "--model", file).exitCode == 0)
        #expect(
            try Tool.run("model", "show", store).output.contains(
                "messageCount  64-bit integer   derived from messages.@count"))
        #expect(try Tool.run("insert", store, "Chat", "title=Ünder", "--json").exitCode == 0)
        let lines = #"{"length": 3, "chat": "Ünder"}"# + "\n" + #"{"length": 4, "chat": "Ünder"}"# + "\n"
        let input = directory.appending(path: "messages.ndjson").path(percentEncoded: false)
        try Data(lines.utf8).write(to: URL(filePath: input))
        let imported = try Tool.run("import", store, "Message", input, "--map", "chat=chat.title")
        #expect(imported.exitCode == 0, "\(imported)")
        #expect(try rows() == "key,messageCount,size\nunder,2,7\n")
        #expect(
            try Tool.run("query", store, "Chat", "--where", "messageCount == 2", "--explain").output.contains("byCount")
        )
        // The change is in the log, in the transaction that added the messages.
        let log = try Tool.run("log", store, "--kind", "updated", "--property", "messageCount").output
        #expect(log.contains("messageCount: 0 -> 2"), "\(log)")
        #expect(try Tool.run("delete", store, "Message", "--where", "length = 3").exitCode == 0)
        #expect(try rows() == "key,messageCount,size\nunder,1,4\n")
        #expect(try rows("--at", "t3").contains("under,2,7"))
        #expect(try Tool.run("rebuild", store).exitCode == 0)
        #expect(try Tool.run("verify", store).exitCode == 0)
    }

    @Test func nobodySetsItFromTheCommandLine() throws {
        #expect(try Tool.run("create", store, "--model", file).exitCode == 0)
        let result = try Tool.run("insert", store, "Chat", "messageCount=3")
        #expect(result.exitCode == 1 && result.output.isEmpty, "\(result)")
        #expect(
            result.error.contains("messageCount is derived from messages.@count; the store computes it."), "\(result)")
        // What was exported can be imported again.
        #expect(try Tool.run("insert", store, "Chat", "title=a").exitCode == 0)
        let out = directory.appending(path: "chats.json").path(percentEncoded: false)
        #expect(try Tool.run("export", store, "Chat", out).exitCode == 0)
        let again = try Tool.run("import", store, "Chat", out)
        #expect(again.exitCode == 0, "\(again)")
        #expect(try rows() == "key,messageCount,size\na,0,0\na,0,0\n")
    }

    @Test func theModelComesOutAsItWentIn() throws {
        #expect(try Tool.run("create", store, "--model", file).exitCode == 0)
        let out = directory.appending(path: "Out.xcdatamodeld").path(percentEncoded: false)
        #expect(try Tool.run("model", "export", store, out).exitCode == 0)
        let show = try Tool.run("model", "show", out)
        #expect(show.output.contains("derived from canonical:(title)"), "\(show)")
        #expect(try Tool.run("model", "diff", file, out).output.contains("derived") == false)
    }
}
