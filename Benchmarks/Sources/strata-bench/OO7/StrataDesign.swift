import Foundation
import StrataGraph
import StrataModel

/// OO7 in Strata: one context that keeps the objects it has read, as an application with a cache does.
final class StrataDesign: DesignPeer {
    private let url: URL
    private let durability: PersistentStoreDurability
    private let design: Design
    private var container: PersistentContainer
    private var context: ManagedObjectContext
    private var sum = 0
    /// The last visit of a composite part that met a part, by the part's id.
    private var visited: [Int]
    private var visit = 0

    init(at url: URL, _ durability: PersistentStoreDurability, _ design: Design) throws {
        self.url = url
        self.durability = durability
        self.design = design
        visited = Array(repeating: 0, count: design.partCount + 1 + 20 * design.size.atomicPartsPerComposite)
        container = try Self.open(url, durability)
        context = container.newBackgroundContext()
        try build()
    }

    private static func open(_ url: URL, _ durability: PersistentStoreDurability) throws -> PersistentContainer {
        let container = try PersistentContainer(
            name: "design",
            entities: [
                DesignObject.self, AtomicPart.self, Connection.self, CompositePart.self, Document.self, Manual.self,
                Assembly.self, ComplexAssembly.self, BaseAssembly.self, Module.self,
            ], at: .url(url), options: .init(durability: durability))
        try container.loadPersistentStores()
        return container
    }

    func reopen() throws {
        context.reset()
        container.close()
        container = try Self.open(url, durability)
        context = container.newBackgroundContext()
        context.retainsRegisteredObjects = true
    }

    // MARK: Building

    private func build() throws {
        var ids: [ObjectID] = []
        let composites = 10_000 / (design.size.atomicPartsPerComposite * 4 + 2)
        for (index, composite) in design.composites.enumerated() {
            ids.append(insert(composite).objectID)
            if index % composites == composites - 1 { try saveAndLetGo() }
        }
        try saveAndLetGo()
        let module = Module(context: context)
        module.id = 1
        let manual = Manual(context: context)
        manual.text = design.manual
        manual.textLen = Int32(design.manual.utf8.count)
        module.manual = manual
        var made: [Assembly] = []
        for value in design.assemblies { made.append(insert(value, ids, made, module)) }
        module.designRoot = made.first as? ComplexAssembly
        try saveAndLetGo()
    }

    private func saveAndLetGo() throws {
        try context.save()
        context.reset()
    }

    private func insert(_ value: DesignComposite) -> CompositePart {
        let composite = CompositePart(context: context)
        composite.id = Int32(value.id)
        composite.type = value.type
        composite.buildDate = Int32(value.date)
        let document = Document(context: context)
        document.id = Int32(value.id)
        document.title = value.title
        document.text = value.text
        composite.documentation = document
        let parts = value.parts.map { value in
            let part = AtomicPart(context: context)
            part.id = Int32(value.id)
            part.type = value.type
            part.buildDate = Int32(value.date)
            part.x = Int32(value.x)
            part.y = Int32(value.y)
            part.docId = Int32(value.document)
            part.partOf = composite
            return part
        }
        composite.rootPart = parts[0]
        for value in value.edges {
            let connection = Connection(context: context)
            connection.type = value.type
            connection.length = Int32(value.length)
            connection.from = parts[value.from]
            connection.to = parts[value.to]
        }
        return composite
    }

    private func insert(
        _ value: Design.Assembly, _ composites: [ObjectID], _ made: [Assembly], _ module: Module
    ) -> Assembly {
        func components(_ ids: [Int]) -> [CompositePart] {
            ids.compactMap { context.object(with: composites[$0 - 1]) as? CompositePart }
        }
        let assembly: Assembly
        if value.isBase {
            let base = BaseAssembly(context: context)
            base.componentsPriv.insert(contentsOf: components(value.priv))
            base.componentsShar.insert(contentsOf: components(value.shared))
            assembly = base
        } else {
            assembly = ComplexAssembly(context: context)
        }
        assembly.id = Int32(value.id)
        assembly.type = value.type
        assembly.buildDate = Int32(value.date)
        assembly.superAssembly = value.parent.flatMap { made[$0] as? ComplexAssembly }
        assembly.module = module
        return assembly
    }

    // MARK: Operations

    func run(_ operation: DesignOperation) throws -> Int {
        if let updates = operation.updates {
            let count = try traverse(rootOnly: updates.rootOnly) { part in
                for _ in 0..<updates.perVisit {
                    if updates.ofDate {
                        part.buildDate += part.buildDate.isMultiple(of: 2) ? -1 : 1
                    } else {
                        (part.x, part.y) = (part.y, part.x)
                    }
                }
                return updates.perVisit
            }
            try context.save()
            return count
        }
        switch operation {
        case .t1: return try traverse(rootOnly: false, visitPart)
        case .t6: return try traverse(rootOnly: true, visitPart)
        case .t5: return try texts()
        case .t8: return try manual { text in text.count { $0 == UInt8(ascii: "I") } }
        case .t9: return try manual { text in text.first == text.last ? 1 : 0 }
        case .insert: return try insertions()
        case .delete: return try deletions()
        default: return try query(operation)
        }
    }

    private func module() throws -> Module? {
        try context.object(Module.self, where: \.id, is: 1)
    }

    private func visitPart(_ part: AtomicPart) -> Int {
        sum &+= doNothing(Int(part.x), Int(part.y))
        return 1
    }

    private func composites(_ body: (CompositePart) throws -> Void) throws {
        guard let root = try module()?.designRoot else { return }
        var waiting: [Assembly] = [root]
        while let assembly = waiting.popLast() {
            if let base = assembly as? BaseAssembly {
                for composite in base.componentsPriv { try body(composite) }
            } else if let complex = assembly as? ComplexAssembly {
                waiting += complex.subAssemblies
            }
        }
    }

    private func traverse(rootOnly: Bool, _ body: (AtomicPart) throws -> Int) throws -> Int {
        var count = 0
        try composites { composite in
            guard let root = composite.rootPart else { return }
            visit += 1
            if rootOnly { count += try body(root) } else { try walk(root, &count, body) }
        }
        return count
    }

    private func walk(_ part: AtomicPart, _ count: inout Int, _ body: (AtomicPart) throws -> Int) throws {
        let id = Int(part.id)
        guard visited[id] != visit else { return }
        visited[id] = visit
        count += try body(part)
        for connection in part.to {
            if let next = connection.to { try walk(next, &count, body) }
        }
    }

    private func texts() throws -> Int {
        var count = 0
        for (old, new) in [("I am", "This is"), ("This is", "I am")] {
            try composites { composite in
                guard let document = composite.documentation else { return }
                let text = document.text
                guard text.hasPrefix(old) else { return }
                document.text = new + text.dropFirst(old.count)
                count += 1
            }
        }
        try context.save()
        return count
    }

    /// Both peers make a String of the text, so that its bytes are contiguous.
    private func manual(_ body: (UnsafeBufferPointer<UInt8>) -> Int) throws -> Int {
        guard var text = try module()?.manual?.text else { return -1 }
        return text.withUTF8(body)
    }

    private func query(_ operation: DesignOperation) throws -> Int {
        switch operation {
        case .q1:
            return try DesignOperation.parts(design).reduce(0) { count, id in
                guard let part = try context.object(AtomicPart.self, where: \.id, is: Int32(id)) else { return count }
                return count + visitPart(part)
            }
        case .q2: return try parts(.greaterThanOrEqual("buildDate", .integer(1990)))
        case .q3: return try parts(.greaterThanOrEqual("buildDate", .integer(1900)))
        case .q7: return try parts(nil)
        case .q4: return try titles()
        case .q5: return try outdated().count
        case .q6:
            var found: Set<ObjectID> = []
            for base in try outdated() {
                var assembly: Assembly? = base
                while let next = assembly, found.insert(next.objectID).inserted { assembly = next.superAssembly }
            }
            return found.count
        case .q8:
            // The model has no relationship for this join, so an application makes it with a table in memory.
            let documents = Set(try context.fetch(FetchRequest<Document>()).map(\.id))
            return try context.fetch(FetchRequest<AtomicPart>()).count { documents.contains($0.docId) }
        default: return 0
        }
    }

    private func outdated() throws -> [BaseAssembly] {
        try context.fetch(
            FetchRequest<BaseAssembly>(
                format: "ANY componentsPriv.buildDate > buildDate OR ANY componentsShar.buildDate > buildDate"))
    }

    private func parts(_ predicate: FetchPredicate?) throws -> Int {
        let request = try predicate.map { try FetchRequest<AtomicPart>(where: $0) } ?? FetchRequest<AtomicPart>()
        return try context.fetch(request).reduce(0) { $0 + visitPart($1) }
    }

    private func titles() throws -> Int {
        var count = 0
        for id in DesignOperation.titles(design) {
            let title = design.composites[id - 1].title
            guard let composite = try context.object(Document.self, where: \.title, is: title)?.part else { continue }
            for base in Array(composite.usedInPriv) + Array(composite.usedInShar) {
                sum &+= doNothing(Int(base.id), Int(base.buildDate))
                count += 1
            }
        }
        return count
    }

    // MARK: Structural changes

    private func insertions() throws -> Int {
        let new = DesignOperation.insertions(design)
        for (value, base) in new {
            let composite = insert(value)
            try context.object(BaseAssembly.self, where: \.id, is: Int32(base.id))?.componentsPriv.insert(composite)
        }
        try context.save()
        return new.count
    }

    private func deletions() throws -> Int {
        let last = Int64(design.composites.count)
        let composites = try context.fetch(FetchRequest<CompositePart>(where: .greaterThan("id", .integer(last))))
        for composite in composites { context.delete(composite) }
        try context.save()
        return composites.count
    }

    func summary() throws -> [Int] {
        let parts = try context.fetch(FetchRequest<AtomicPart>())
        let sums = parts.reduce(0) {
            $0 + Int($1.id) * 7 + Int($1.x) * 3 + Int($1.y) * 5 + Int($1.buildDate) * 11
        }
        let uses = try context.fetch(FetchRequest<BaseAssembly>()).reduce(0) {
            $0 + $1.componentsPriv.count + $1.componentsShar.count
        }
        return try [
            sums, parts.count, context.count(for: FetchRequest<Connection>()),
            context.count(for: FetchRequest<CompositePart>()), context.count(for: FetchRequest<Document>()), uses,
            context.fetch(FetchRequest<Document>()).reduce(0) { $0 + $1.text.count },
        ]
    }
}
