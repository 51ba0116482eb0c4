import StrataModel

/// The places of the boxes in a diagram of the model: entities in columns, so that lines run from column to column.
///
/// Entities that are joined stand in neighbouring columns: a column has what is one step further from the entity with the
/// most lines. Inside a column, entities follow the middle of their neighbours (the barycentre of Sugiyama, Tagawa and
/// Toda, 1981).
struct ModelLayout {
    struct Box: Equatable {
        let entity: String
        let lines: [String]
        var x = 0
        var y = 0
        let width: Int
        let height: Int
    }

    struct Line: Hashable {
        enum Kind { case relationship, inheritance }

        let kind: Kind
        let source: String
        let target: String
        /// The relationship, and its inverse after a slash.
        let label: String
        let isToMany: Bool
        let isInverseToMany: Bool
        /// Its number among the lines between the same two boxes, and how many there are, so that none covers another.
        var number = 0
        var count = 1
        /// How far below the middles of their boxes the line begins at the left one and ends at the other, and how far the
        /// lines between the same boxes do so on average.
        var ports = Ports()
        var usualPorts = Ports()

        struct Ports: Hashable {
            var left = 0
            var right = 0
        }
    }

    static let lineHeight = 18
    static let headHeight = 30
    private static let gap = (columns: 120, rows: 28)
    /// A longer label is cut, in characters.
    static let longestLabel = 40
    private static let margin = 16
    private static let mostAttributes = 8

    private(set) var boxes: [Box]
    private(set) var lines: [Line]
    private(set) var width = 0
    private(set) var height = 0

    init(_ entities: [EntityDescription]) {
        boxes = entities.map(Self.box)
        lines = Self.apart(Self.lines(entities))
        place(Self.columns(entities.map(\.name), lines))
        setPorts()
    }

    private static func box(_ entity: EntityDescription) -> Box {
        let attributes = entity.properties.compactMap(\.attribute).map { "\($0.name): \($0.type.name)" }
        var lines = attributes.prefix(mostAttributes).map { ValueText.harmless($0) }
        if attributes.count > mostAttributes { lines.append("and \(attributes.count - mostAttributes) more") }
        let longest = ([ValueText.harmless(entity.name) + "000000"] + lines).map(\.count).max() ?? 0
        return Box(
            entity: entity.name, lines: lines, width: min(max(longest * 7 + 28, 120), 320),
            height: headHeight + lines.count * lineHeight + (lines.isEmpty ? 0 : 10))
    }

    /// Each relationship once, together with its inverse.
    private static func lines(_ entities: [EntityDescription]) -> [Line] {
        var lines: [Line] = []
        var known: Set<[String]> = []
        let names = Set(entities.map(\.name))
        for entity in entities {
            if let parent = entity.superentityName, names.contains(parent) {
                lines.append(
                    Line(
                        kind: .inheritance, source: entity.name, target: parent, label: "is a", isToMany: false,
                        isInverseToMany: false))
            }
            for relationship in entity.properties.compactMap(\.relationship) {
                let target = relationship.destinationEntityName
                guard names.contains(target), !known.contains([entity.name, relationship.name]) else { continue }
                let inverse = relationship.inverseName.flatMap { name in
                    entities.first { $0.name == target }?.properties.compactMap(\.relationship).first {
                        $0.name == name
                    }
                }
                if let inverse { known.insert([target, inverse.name]) }
                lines.append(
                    Line(
                        kind: .relationship, source: entity.name, target: target,
                        label: relationship.name + (inverse.map { " / \($0.name)" } ?? ""),
                        isToMany: relationship.isToMany, isInverseToMany: inverse?.isToMany ?? false))
            }
        }
        return lines
    }

    /// The lines with their numbers among those between the same boxes.
    private static func apart(_ lines: [Line]) -> [Line] {
        let groups = Dictionary(grouping: lines.indices) { [lines[$0].source, lines[$0].target].sorted() }
        var lines = lines
        for indexes in groups.values {
            for (number, index) in indexes.enumerated() {
                (lines[index].number, lines[index].count) = (number, indexes.count)
            }
        }
        return lines
    }

    /// The names by column.
    private static func columns(_ names: [String], _ lines: [Line]) -> [[String]] {
        var neighbours: [String: [String]] = [:]
        for line in lines where line.source != line.target {
            neighbours[line.source, default: []].append(line.target)
            neighbours[line.target, default: []].append(line.source)
        }
        var columns: [[String]] = []
        var placed: Set<String> = []
        let byLines = names.enumerated().sorted {
            let (left, right) = (neighbours[$0.element]?.count ?? 0, neighbours[$1.element]?.count ?? 0)
            return (right, $0.offset) < (left, $1.offset)
        }.map(\.element)
        for start in byLines where !placed.contains(start) {
            var column = [start]
            var index = 0
            placed.insert(start)
            while !column.isEmpty {
                if index == columns.count { columns.append([]) }
                columns[index] += column
                let next = column.flatMap { neighbours[$0] ?? [] }
                column = next.reduce(into: []) { column, name in
                    if placed.insert(name).inserted { column.append(name) }
                }
                index += 1
            }
        }
        return ordered(columns, neighbours)
    }

    /// The columns sorted so that neighbours are at about the same height.
    private static func ordered(_ columns: [[String]], _ neighbours: [String: [String]]) -> [[String]] {
        var columns = columns
        for round in 0..<6 {
            var rows: [String: Double] = [:]
            for column in columns {
                for (row, name) in column.enumerated() { rows[name] = Double(row) / Double(max(column.count, 1)) }
            }
            func middle(_ name: String) -> Double {
                let around = (neighbours[name] ?? []).compactMap { rows[$0] }
                return around.isEmpty ? rows[name] ?? 0 : around.reduce(0, +) / Double(around.count)
            }
            // One column at a time, so that two columns do not change places for ever.
            for index in columns.indices where index % 2 == round % 2 {
                columns[index] = columns[index].enumerated().sorted {
                    (middle($0.element), $0.offset) < (middle($1.element), $1.offset)
                }.map(\.element)
            }
        }
        return columns
    }

    private mutating func place(_ columns: [[String]]) {
        let indexes = Dictionary(uniqueKeysWithValues: boxes.enumerated().map { ($0.element.entity, $0.offset) })
        func box(_ name: String) -> Int { indexes[name] ?? 0 }
        let heights = columns.map { column in
            column.reduce(0) { $0 + boxes[box($1)].height } + Self.gap.rows * max(column.count - 1, 0)
        }
        let tallest = heights.max() ?? 0
        var x = Self.margin
        let gap = columnGap(columns)
        for (column, columnHeight) in zip(columns, heights) {
            let columnWidth = column.map { boxes[box($0)].width }.max() ?? 0
            var y = Self.margin + (tallest - columnHeight) / 2
            for name in column {
                let index = box(name)
                boxes[index].x = x + (columnWidth - boxes[index].width) / 2
                boxes[index].y = y
                y += boxes[index].height + Self.gap.rows
            }
            x += columnWidth + gap
        }
        width = max(x - gap, roomBeside(columns, from: indexes), Self.margin) + Self.margin
        height = tallest + 2 * Self.margin
    }

    /// Where lines leave their boxes: on each side one below the other, in the order of the boxes that they lead to, so that
    /// none begins where another does.
    private mutating func setPorts() {
        struct Side: Hashable {
            let box: Int
            let isRight: Bool
        }
        let indexes = Dictionary(uniqueKeysWithValues: boxes.enumerated().map { ($0.element.entity, $0.offset) })
        func middle(_ box: Int) -> Int { boxes[box].y + boxes[box].height / 2 }
        var sides: [Side: [(line: Int, end: WritableKeyPath<Line.Ports, Int>, other: Int)]] = [:]
        for (index, line) in lines.enumerated() {
            guard let source = indexes[line.source], let target = indexes[line.target], source != target else {
                continue
            }
            let (left, right) = boxes[source].x > boxes[target].x ? (target, source) : (source, target)
            let isSameColumn = boxes[right].x < boxes[left].x + boxes[left].width
            sides[Side(box: left, isRight: true), default: []].append((index, \.left, middle(right)))
            sides[Side(box: right, isRight: isSameColumn), default: []].append((index, \.right, middle(left)))
        }
        for (side, ends) in sides {
            let step = min(Self.lineHeight, (boxes[side.box].height - 12) / ends.count)
            let order = ends.sorted { ($0.other, lines[$0.line].number) < ($1.other, lines[$1.line].number) }
            for (place, end) in order.enumerated() {
                lines[end.line].ports[keyPath: end.end] = (place * 2 - (order.count - 1)) * step / 2
            }
        }
        for group in Dictionary(grouping: lines.indices, by: { [lines[$0].source, lines[$0].target].sorted() }).values {
            let left = group.reduce(0) { $0 + lines[$1].ports.left } / group.count
            let right = group.reduce(0) { $0 + lines[$1].ports.right } / group.count
            for index in group { lines[index].usualPorts = Line.Ports(left: left, right: right) }
        }
    }

    /// How far from its boxes the label of a line begins that bends out of a column and back.
    static let reachOfBend = 50

    private static func width(_ line: Line) -> Int { min(line.label.count, longestLabel) * 7 }

    /// The lines from a box to itself or to another of its column.
    private func bends(_ columns: [[String]]) -> [Line] {
        let column = Dictionary(
            uniqueKeysWithValues: columns.enumerated().flatMap { index, names in names.map { ($0, index) } })
        return lines.filter { column[$0.source] == column[$0.target] }
    }

    /// The right end of what stands beside boxes: labels of lines that bend out of their column.
    private func roomBeside(_ columns: [[String]], from indexes: [String: Int]) -> Int {
        bends(columns).map { line in
            let right = [line.source, line.target].compactMap { indexes[$0] }.map { boxes[$0].x + boxes[$0].width }
                .max()
            return (right ?? 0) + Self.reachOfBend + Self.width(line)
        }.max() ?? 0
    }

    /// The room between columns, in which the labels of lines from one to another stand, and of those that bend out.
    private func columnGap(_ columns: [[String]]) -> Int {
        let bends = Set(bends(columns))
        let across = lines.filter { !bends.contains($0) }.map { Self.width($0) + 40 }
        let beside = bends.map { Self.width($0) + Self.reachOfBend + 14 }
        return max(Self.gap.columns, across.max() ?? 0, beside.max() ?? 0)
    }
}
