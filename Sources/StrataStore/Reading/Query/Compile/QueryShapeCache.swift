import Locking
package import StrataModel

/// Compiles requests and keeps 256 of their shapes, in sets of four of which the oldest is replaced, for one open store.
///
/// A request finds its shape by a hash over everything but its constants and is then compared with it in full, so a
/// hash that two shapes share costs only time. Each schema has shapes of its own. The mutex guards `slots`.
package final class QueryShapeCache: Sendable {
    private static let ways = 4
    private static let sets = 64

    private struct Slots {
        var shapes = [QueryShape?](repeating: nil, count: QueryShapeCache.ways * QueryShapeCache.sets)
        /// The element that the next shape of a full set replaces.
        var next = 0
    }

    private let slots = Locked(Slots())

    package init() {}

    /// Refuses a request that cannot run, constants, limit and offset included.
    ///
    /// - Returns: the shape of the request.
    /// - Throws: what `CompiledQuery` refuses.
    package func checkedShape(of request: StoreRequest, _ schema: Schema) throws(StrataError) -> QueryShape {
        let shape = try shape(of: request, schema)
        if request.limit < 0 || request.offset < 0 || !shape.accepts(request) { _ = try CompiledQuery(request, shape) }
        return shape
    }

    /// The request, ready to run.
    ///
    /// - Throws: what `CompiledQuery` refuses.
    package func compiled(_ request: StoreRequest, _ schema: Schema) throws(StrataError) -> CompiledQuery {
        try CompiledQuery(request, try shape(of: request, schema))
    }

    /// The shape of a request: the one that it brings, the one that is kept, or a new one.
    ///
    /// - Throws: what `QueryShape` refuses.
    func shape(of request: StoreRequest, _ schema: Schema) throws(StrataError) -> QueryShape {
        if let known = request.shape, known.schema === schema { return known }
        let first = Int(request.shapeHash & UInt64(Self.sets - 1)) * Self.ways
        let known = slots.withLock { slots -> QueryShape? in
            for index in first..<first + Self.ways {
                if let shape = slots.shapes[index], shape.fits(request, schema) { return shape }
            }
            return nil
        }
        if let known { return known }
        let fresh = try QueryShape(request, schema)
        if fresh.isVolatile { return fresh }
        slots.withLock { slots in
            let free = (first..<first + Self.ways).first { slots.shapes[$0] == nil }
            slots.shapes[free ?? first + slots.next] = fresh
            slots.next = (slots.next + 1) % Self.ways
        }
        return fresh
    }
}

extension StoreRequest {
    /// A hash that is equal for requests that differ only in constants, limit and offset.
    fileprivate var shapeHash: UInt64 {
        var hash = ShapeHash()
        hash.add(UInt64(entityID.rawValue))
        for description in sort { hash.add(description.keyPath) }
        if let predicate { hash.add(predicate) }
        return hash.finished
    }
}

/// A fast hash. Collisions are harmless, since shapes are compared too.
private struct ShapeHash {
    private var value: UInt64 = 0xCBF2_9CE4_8422_2325

    /// The hash with its high bits, which depend on all input, mixed into the low bits.
    var finished: UInt64 { value ^ value >> 29 ^ value >> 47 }

    mutating func add(_ word: UInt64) { value = (value ^ word) &* 0x9E37_79B9_7F4A_7C15 }

    mutating func add(_ text: String) {
        var word: UInt64 = 0
        for byte in text.utf8 { word = word &* 31 &+ UInt64(byte) }
        add(word)
    }

    mutating func add(_ predicate: FetchPredicate) {
        switch predicate {
        case .comparison(let comparison):
            add(UInt64(comparison.operator.rawValue))
            add(comparison.left)
            add(comparison.right)
        case .and(let parts): add(parts, as: 0x41)
        case .or(let parts): add(parts, as: 0x4F)
        case .not(let part): add([part], as: 0x4E)
        case .constant: add(UInt64(0x43))
        }
    }

    private mutating func add(_ parts: [FetchPredicate], as word: UInt64) {
        add(word)
        for part in parts { add(part) }
    }

    private mutating func add(_ expression: FetchExpression) {
        switch expression {
        case .keyPath(let path): add(path)
        case .constant: add(UInt64(1))
        case .aggregate: add(UInt64(2))
        case .evaluatedObject: add(UInt64(3))
        default: add(UInt64(4))
        }
    }
}
