import FaultShim
import Foundation

/// Every change of files that a recorded program has made, in order (`Recorder.h`).
struct Trace {
    struct Operation {
        let kind: Int
        let object: Int
        let parent: Int
        let other: Int
        let flags: Int
        let offset: Int
        let extent: Int
        let name: String
        let otherName: String
        let bytes: ArraySlice<UInt8>

        /// Whether it changes a file, so that a power cut may take it.
        var isChange: Bool { kind <= RECORD_LENGTH || kind == RECORD_MAPPED || kind == RECORD_EXCHANGE }
        var isOfContent: Bool { kind == RECORD_WRITE || kind == RECORD_MAPPED }
        var isOfName: Bool {
            [RECORD_MAKE, RECORD_LINK, RECORD_REMOVE, RECORD_RENAME, RECORD_EXCHANGE].contains(kind)
        }
        /// Whether it changes names in a second directory, too.
        var isOfTwo: Bool { [RECORD_RENAME, RECORD_EXCHANGE].contains(kind) && other != parent }
    }

    let operations: [Operation]
    /// The first operation that is not part of the state before.
    let start: Int
    /// For each operation, the one with which it has become durable.
    private let durableAt: [Int]

    init(_ file: URL) throws {
        let bytes = [UInt8](try Data(contentsOf: file))
        var operations: [Operation] = []
        var place = 0
        let size = MemoryLayout<record>.size
        while place + size <= bytes.count {
            let head = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: record.self) }
            place += size
            func take(_ count: UInt32) -> ArraySlice<UInt8> {
                defer { place += Int(count) }
                return bytes[place..<place + Int(count)]
            }
            let (name, other) = (take(head.name_length), take(head.other_length))
            let hasBytes = [RECORD_WRITE, RECORD_MAPPED].contains(Int(head.kind))
            operations.append(
                Operation(
                    kind: Int(head.kind), object: Int(head.object), parent: Int(head.parent), other: Int(head.other),
                    flags: Int(head.flags), offset: Int(head.offset), extent: Int(head.extent),
                    name: String(decoding: name, as: UTF8.self), otherName: String(decoding: other, as: UTF8.self),
                    bytes: hasBytes ? take(head.extent) : []))
        }
        self.operations = operations
        var start = (operations.firstIndex { $0.kind == RECORD_BEGUN } ?? -1) + 1
        // What was said of the state before holds from the first operation on.
        while start < operations.count, operations[start].kind == RECORD_MARK { start += 1 }
        self.start = start
        durableAt = Self.durability(operations, start)
    }

    /// A sync makes durable what its file or directory had before it began.
    private static func durability(_ operations: [Operation], _ start: Int) -> [Int] {
        var result = [Int](repeating: .max, count: operations.count)
        var pending: [Int: [Int]] = [:]
        for (index, operation) in operations.enumerated() {
            if index < start || operation.kind == RECORD_WRITE && operation.flags != 0 {
                result[index] = index
            } else if operation.kind == RECORD_SYNC {
                for change in pending[operation.object] ?? [] where change < operation.offset {
                    result[change] = min(result[change], index)
                }
                pending[operation.object]?.removeAll { $0 < operation.offset }
            } else if operation.isChange {
                pending[operation.isOfFile ? operation.object : operation.parent, default: []].append(index)
                if operation.isOfTwo {
                    pending[operation.other, default: []].append(index)
                }
            }
        }
        return result
    }

    /// The changes before an operation that are not durable when it is made.
    func pending(before end: Int) -> [Int] {
        (start..<end).filter { operations[$0].isChange && durableAt[$0] >= end }
    }

    /// What the program has said before an operation: the last number of each kind.
    func said(before end: Int) -> [Int: Int] {
        var said: [Int: Int] = [:]
        for operation in operations[..<end] where operation.kind == RECORD_MARK {
            said[operation.offset] = operation.extent
        }
        return said
    }

    /// The files after the operations before `end`, each of which has fared as `fate` says.
    func image(before end: Int, _ fate: (Int) -> Image.Fate) -> Image {
        var tree = ImageTree()
        for index in 0..<end where operations[index].isChange { tree.apply(operations[index], fate(index)) }
        return tree.image
    }
}

extension Trace.Operation {
    fileprivate var isOfFile: Bool { isOfContent || kind == RECORD_LENGTH }
}
