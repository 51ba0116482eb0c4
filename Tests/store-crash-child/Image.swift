import FaultShim
import Foundation
import StrataTestSupport

/// The files of a directory, by their paths in it; nil for a directory.
struct Image {
    /// What becomes of a change.
    enum Fate {
        case whole, lost
        /// A file has its new length, and zeros.
        case lengthOnly
        /// Of each of its parts of so many bytes, one or the other state, as the seed says.
        case torn(unit: Int, seed: UInt64)
    }

    var files: [String: [UInt8]?] = [:]
    /// The inode numbers that recorded files had, by the same paths.
    var numbers: [String: UInt64] = [:]

    /// The files that there are below a directory.
    static func files(of root: URL) throws -> [String: [UInt8]?] {
        var files: [String: [UInt8]?] = [:]
        let path = root.path(percentEncoded: false)
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
            let file = root.appending(path: name)
            let isDirectory = try file.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true
            files[name] = .some(isDirectory ? nil : [UInt8](try Data(contentsOf: file)))
        }
        return files
    }

    /// Writes the files as `write(to:)`, and has them say that they have the inode numbers that they had.
    func writeAsRecorded(to root: URL) throws {
        try write(to: root)
        number_nothing()
        for (name, number) in numbers { number_file(root.appending(path: name).path(percentEncoded: false), number) }
    }

    /// Writes the files below a directory, which is made.
    func write(to root: URL) throws {
        let manager = FileManager.default
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        try manager.createDirectory(at: root, withIntermediateDirectories: true, attributes: attributes)
        for (name, content) in files.sorted(by: { $0.key < $1.key }) {
            let path = root.appending(path: name).path(percentEncoded: false)
            if let content {
                let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
                defer { close(descriptor) }
                guard descriptor >= 0, Self.write(content, to: descriptor) else { throw CocoaError(.fileWriteUnknown) }
            } else {
                try manager.createDirectory(atPath: path, withIntermediateDirectories: false, attributes: attributes)
            }
        }
    }

    /// Writes the content of an empty file. Blocks of zeros become holes, which read as zeros: most of a journal is.
    private static func write(_ content: [UInt8], to descriptor: Int32) -> Bool {
        guard ftruncate(descriptor, off_t(content.count)) == 0 else { return false }
        return content.withUnsafeBytes { bytes in
            var begin = 0
            while begin < bytes.count {
                var end = min(begin + block, bytes.count)
                if isZero(bytes[begin..<end]) {
                    begin = end
                    continue
                }
                while end < bytes.count, !isZero(bytes[end..<min(end + block, bytes.count)]) {
                    end = min(end + block, bytes.count)
                }
                let part = UnsafeRawBufferPointer(rebasing: bytes[begin..<end])
                guard pwrite(descriptor, part.baseAddress, part.count, off_t(begin)) == part.count else { return false }
                begin = end
            }
            return true
        }
    }

    private static let block = 4096

    private static func isZero(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard bytes.first == 0 else { return bytes.isEmpty }
        guard let start = UnsafeRawBufferPointer(rebasing: bytes).baseAddress else { return true }
        return memcmp(start, start + 1, bytes.count - 1) == 0
    }
}

/// Files and directories by their numbers, while changes are made.
struct ImageTree {
    private var content: [Int: [UInt8]] = [:]
    private var entries: [Int: [String: Int]] = [0: [:]]
    private var numbers: [Int: UInt64] = [:]

    mutating func apply(_ change: Trace.Operation, _ fate: Image.Fate) {
        if change.kind == RECORD_MAKE {
            numbers[change.object] = UInt64(change.offset)
            if change.flags != 0 { entries[change.object] = [:] } else { content[change.object] = [] }
        }
        if case .lost = fate { return }
        switch change.kind {
        case RECORD_MAKE, RECORD_LINK: entries[change.parent]?[change.name] = change.object
        case RECORD_REMOVE: entries[change.parent]?[change.name] = nil
        case RECORD_RENAME:
            if entries[change.parent]?[change.name] == change.object { entries[change.parent]?[change.name] = nil }
            entries[change.other]?[change.otherName] = change.object
        case RECORD_EXCHANGE:
            // Both names are there: neither was made or moved after the last sync.
            guard let one = entries[change.parent]?[change.name], let two = entries[change.other]?[change.otherName]
            else { return }
            entries[change.parent]?[change.name] = two
            entries[change.other]?[change.otherName] = one
        case RECORD_LENGTH: setLength(change)
        default: write(change, fate)
        }
    }

    private mutating func setLength(_ change: Trace.Operation) {
        let present = content[change.object]?.count ?? 0
        if present < change.offset {
            content[change.object]?.append(contentsOf: [UInt8](repeating: 0, count: change.offset - present))
        } else if change.flags == 0 {
            content[change.object]?.removeLast(present - change.offset)
        }
    }

    private mutating func write(_ change: Trace.Operation, _ fate: Image.Fate) {
        guard var bytes = content.removeValue(forKey: change.object) else { return }
        let end = change.offset + change.bytes.count
        if bytes.count < end { bytes.append(contentsOf: [UInt8](repeating: 0, count: end - bytes.count)) }
        switch fate {
        case .whole: bytes.replaceSubrange(change.offset..<end, with: change.bytes)
        case .torn(let unit, let seed):
            var generator = SeededGenerator(seed: seed)
            var offset = change.offset
            while offset < end {
                let next = min(end, (offset / unit + 1) * unit)
                if Bool.random(using: &generator) {
                    let first = change.bytes.startIndex - change.offset
                    bytes.replaceSubrange(offset..<next, with: change.bytes[first + offset..<first + next])
                }
                offset = next
            }
        case .lost, .lengthOnly: break
        }
        content[change.object] = bytes
    }

    /// What can be reached from the recorded directory.
    var image: Image {
        var image = Image()
        func add(_ directory: Int, _ path: String) {
            for (name, object) in entries[directory] ?? [:] {
                image.numbers[path + name] = numbers[object]
                if entries[object] != nil {
                    image.files[path + name] = .some(nil)
                    add(object, path + name + "/")
                } else {
                    image.files[path + name] = .some(content[object] ?? [])
                }
            }
        }
        add(0, "")
        return image
    }
}
