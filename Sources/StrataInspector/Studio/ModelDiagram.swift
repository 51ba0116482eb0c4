import StrataModel
import StrataXcode

/// Draws the model as SVG, with the number of objects of each entity at the moment. A page gives it its colours by class.
struct ModelDiagram {
    private let layout: ModelLayout
    private let counts: [String: Int]
    /// The address of the table of an entity's objects.
    private let address: (String) -> String

    init(_ reading: StudioReading) throws {
        let counted = try ModelPage.counts(reading)
        layout = ModelLayout(counted.map(\.entity.description))
        counts = Dictionary(uniqueKeysWithValues: counted.map { ($0.entity.name, $0.all) })
        address = { reading.address(["objects", $0]) }
    }

    var svg: String {
        let boxes = Dictionary(uniqueKeysWithValues: layout.boxes.map { ($0.entity, $0) })
        let lines = layout.lines.flatMap { line -> [XMLElement] in
            guard let source = boxes[line.source], let target = boxes[line.target] else { return [] }
            return Self.line(line, from: source, to: target)
        }
        return XMLText.of(
            Self.element(
                "svg",
                [
                    "xmlns": "http://www.w3.org/2000/svg", "viewBox": "0 0 \(layout.width) \(layout.height)",
                    "width": "\(layout.width)", "height": "\(layout.height)", "role": "group",
                    "aria-label": "The entities of the model and their relationships",
                ], lines + layout.boxes.map(box)))
    }

    private func box(_ box: ModelLayout.Box) -> XMLElement {
        let name = ValueText.harmless(box.entity)
        let count = ValueText.count(counts[box.entity] ?? 0)
        var parts = [
            Self.element(
                "rect",
                [
                    "x": "\(box.x)", "y": "\(box.y)", "width": "\(box.width)", "height": "\(box.height)", "rx": "6",
                ]),
            Self.text(Self.cut(name, (box.width - 24) * 10 / 73 - count.count - 1), box.x + 12, box.y + 20, "name"),
            Self.text(count, box.x + box.width - 12, box.y + 20, "count", anchor: "end"),
        ]
        let most = (box.width - 20) / 7
        for (row, line) in box.lines.enumerated() {
            let y = box.y + ModelLayout.headHeight + 12 + row * ModelLayout.lineHeight
            parts.append(
                Self.text(Self.cut(line, most), box.x + 12, y, "attribute"))
        }
        return Self.element(
            "a",
            [
                "href": address(box.entity), "class": "entity",
                "aria-label": "\(name), \(ValueText.count(counts[box.entity] ?? 0, "object"))",
            ], parts)
    }

    /// - Parameter most: the most characters that have room.
    private static func cut(_ text: String, _ most: Int) -> String {
        text.count > most ? text.prefix(max(most - 1, 0)) + "…" : text
    }

    /// A curve between the sides of two boxes that face each other, with a label in its middle. Several between the same
    /// boxes pass one below the other.
    private static func line(
        _ line: ModelLayout.Line, from source: ModelLayout.Box, to target: ModelLayout.Box
    ) -> [XMLElement] {
        var (from, to) = (source, target)
        var isMany = (atStart: line.isInverseToMany, atEnd: line.isToMany)
        if from.x > to.x {
            swap(&from, &to)
            isMany = (atStart: isMany.atEnd, atEnd: isMany.atStart)
        }
        let place = line.number * 2 - (line.count - 1)
        // A line from a box to itself has no neighbour to be kept apart from but those of its kind.
        let apart = from == to ? place * min(labelHeight, from.height / line.count) / 2 : 0
        let start = (x: from.x + from.width, y: from.y + from.height / 2 + apart + line.ports.left)
        let isSameColumn = to.x < start.x
        let end = (
            x: isSameColumn ? to.x + to.width : to.x,
            y: to.y + (from == to ? to.height / 4 : to.height / 2) + apart + line.ports.right
        )
        // Three quarters of what the handles are moved by is what the middle moves by.
        let usual = line.usualPorts
        let already = apart + (line.ports.left - usual.left + line.ports.right - usual.right) / 2
        let bend = (place * labelHeight / 2 - already) * 4 / 3
        let reach = isSameColumn ? 60 : max(40, (end.x - start.x) / 2)
        let turn = isSameColumn ? end.x + reach : end.x - reach
        let path = element(
            "path",
            [
                "class": line.kind == .inheritance ? "inheritance" : "relationship",
                "d": "M\(start.x) \(start.y) C\(start.x + reach) \(start.y + bend) \(turn) \(end.y + bend) "
                    + "\(end.x) \(end.y)",
            ])
        let middle = isSameColumn ? max(start.x, end.x) + ModelLayout.reachOfBend : (start.x + end.x) / 2
        var parts = [
            path,
            text(
                cut(ValueText.harmless(line.label), ModelLayout.longestLabel), middle,
                (start.y + end.y) / 2 + bend * 3 / 4 + (isSameColumn ? 4 : -4), "label",
                anchor: isSameColumn ? "start" : "middle"),
        ]
        if isMany.atStart { parts.append(text("∗", start.x + 6, start.y - 3, "many")) }
        if isMany.atEnd { parts.append(text("∗", isSameColumn ? end.x + 6 : end.x - 12, end.y - 3, "many")) }
        return parts
    }

    /// How far labels of lines between the same boxes are apart.
    private static let labelHeight = 18

    private static func text(
        _ text: String, _ x: Int, _ y: Int, _ name: String, anchor: String = "start"
    ) -> XMLElement {
        element("text", ["x": "\(x)", "y": "\(y)", "class": name, "text-anchor": anchor], text: text)
    }

    private static func element(
        _ name: String, _ attributes: KeyValuePairs<String, String>, _ children: [XMLElement] = [], text: String = ""
    ) -> XMLElement {
        XMLElement(name, attributes.map { .init($0.key, $0.value) }, children: children, text: text)
    }
}
