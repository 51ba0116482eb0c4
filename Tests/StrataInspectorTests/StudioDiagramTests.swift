import Foundation
import StrataModel
import Testing

@testable import StrataInspector

/// The lines between the boxes of a diagram.
@Suite struct StudioDiagramTests {
    private static let model = """
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
            <entity name="Film"><attribute name="title" optional="YES" attributeType="String"/>
                <relationship name="cast" optional="YES" toMany="YES" destinationEntity="Person" inverseName="actedIn" inverseEntity="Person"/>
                <relationship name="directors" optional="YES" toMany="YES" destinationEntity="Person" inverseName="directed" inverseEntity="Person"/>
                <relationship name="writers" optional="YES" toMany="YES" destinationEntity="Person" inverseName="wrote" inverseEntity="Person"/>
            </entity>
            <entity name="Person"><attribute name="name" optional="YES" attributeType="String"/>
                <relationship name="actedIn" optional="YES" toMany="YES" destinationEntity="Film" inverseName="cast" inverseEntity="Film"/>
                <relationship name="directed" optional="YES" toMany="YES" destinationEntity="Film" inverseName="directors" inverseEntity="Film"/>
                <relationship name="wrote" optional="YES" toMany="YES" destinationEntity="Film" inverseName="writers" inverseEntity="Film"/>
                <relationship name="favourite" optional="YES" maxCount="1" destinationEntity="Film"/>
            </entity>
        </model>
        """

    /// One entity with relationships to two others.
    private static let fork = """
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
            <entity name="Film"><attribute name="title" optional="YES" attributeType="String"/>
                <relationship name="cast" optional="YES" toMany="YES" destinationEntity="Person" inverseName="films" inverseEntity="Person"/>
                <relationship name="genres" optional="YES" toMany="YES" destinationEntity="Genre" inverseName="films" inverseEntity="Genre"/>
                <relationship name="sequel" optional="YES" maxCount="1" destinationEntity="Film"/>
            </entity>
            <entity name="Person">
                <relationship name="films" optional="YES" toMany="YES" destinationEntity="Film" inverseName="cast" inverseEntity="Film"/>
            </entity>
            <entity name="Genre">
                <relationship name="films" optional="YES" toMany="YES" destinationEntity="Film" inverseName="genres" inverseEntity="Film"/>
            </entity>
        </model>
        """

    @Test func linesToDifferentBoxesBeginApartAndDoNotCross() throws {
        struct Ends {
            let start: Int
            let end: Int
            let isLoop: Bool
        }
        let paths = try diagram(Self.fork).matches(of: #/d="M(\d+) (\d+) C\S+ \S+ \S+ \S+ (\d+) (\d+)"/#)
        let lines: [Ends] = paths.map { path in
            Ends(start: Int(path.2) ?? 0, end: Int(path.4) ?? 0, isLoop: path.1 == path.3)
        }
        #expect(lines.count == 3)
        let others = lines.filter { !$0.isLoop }.sorted { $0.start < $1.start }
        #expect(others.count == 2 && others[0].start < others[1].start && others[0].end < others[1].end, "\(lines)")
    }

    /// A line from a box to itself stands beside the box, with all of its label.
    @Test func aLineFromABoxToItselfHasRoomBesideIt() throws {
        let svg = try diagram(Self.fork)
        let label = try #require(svg.firstMatch(of: /x="(\d+)" y="\d+" class="label" text-anchor="start">sequel</))
        let film = /aria-label="Film, 0 objects">\s*<rect x="(\d+)" y="\d+" width="(\d+)"/
        let box = try #require(svg.firstMatch(of: film))
        let width = try #require(svg.firstMatch(of: #/viewBox="0 0 (\d+) /#))
        let (left, right) = (Int(label.1) ?? 0, (Int(box.1) ?? 0) + (Int(box.2) ?? 0))
        // The curve goes three quarters as far as its handles.
        #expect(left >= right + 45)
        #expect(left + "sequel".count * 7 <= Int(width.1) ?? 0)
        let others = svg.matches(of: /<rect x="(\d+)"/).compactMap { Int($0.1) }.filter { $0 > right }
        #expect(others.allSatisfy { $0 >= left + "sequel".count * 7 })
    }

    private func diagram(_ text: String = Self.model) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(component: "diagram-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appending(path: "Films.strata").path
        let model = try EncryptedStore.write("Films", text, in: folder)
        #expect(try Tool.run("create", path, "--model", model).exitCode == 0)
        let studio = try Studio(paths: [path])
        defer { studio.close() }
        return String(decoding: studio.answer(StudioAddress(path: ["Films", "model.svg"])).body, as: UTF8.self)
    }

    @Test func linesBetweenTheSameBoxesDoNotCoverEachOther() throws {
        let svg = try diagram()
        let labels = svg.matches(of: /x="(-?\d+)" y="(-?\d+)" class="label"[^>]*>([^<]+)</)
        #expect(
            labels.map { String($0.3) }.sorted() == [
                "cast / actedIn", "directors / directed", "favourite", "writers / wrote",
            ])
        let heights = labels.compactMap { Int($0.2) }.sorted()
        for (upper, lower) in zip(heights, heights.dropFirst()) { #expect(lower - upper >= 14, "\(heights)") }
        let starts = svg.matches(of: #/d="M(\d+ \d+) /#).map { String($0.1) }
        #expect(Set(starts).count == 4)
    }

    @Test func labelsHaveRoomBetweenTheColumns() throws {
        let boxes = try diagram().matches(of: /<rect x="(\d+)" y="\d+" width="(\d+)"/).map { match in
            (x: Int(match.1) ?? 0, width: Int(match.2) ?? 0)
        }.sorted { $0.x < $1.x }
        #expect(boxes.count == 2)
        let longest = "directors / directed".count * 7
        #expect(boxes[1].x - boxes[0].x - boxes[0].width >= longest)
    }
}
