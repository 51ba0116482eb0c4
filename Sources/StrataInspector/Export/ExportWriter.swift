// Writes the rows of an export in one of its forms.

import ArgumentParser
import Foundation
import StrataModel
import StrataStore

/// The file formats of exports; `strata import` reads all but `cloudevents`.
enum ExportForm: String, CaseIterable {
    case plist, json, ndjson, csv
    /// Events instead of objects.
    case cloudevents
    /// The whole store as a SQLite file.
    case coredata

    init?(path: String) {
        if let form = RecordForm(path: path) {
            self = ExportForm(rawValue: form.rawValue) ?? .ndjson
        } else {
            return nil
        }
    }
}

/// Writes the rows of an export in one of the forms.
struct ExportWriter {
    private let form: ExportForm
    private let keys: [String]
    /// Keys with a default in the model: leaving nil out would import the default.
    private let keysWithDefault: Set<String>
    private let exact: ExactValue
    private let target: ExportTarget
    private var count = 0
    /// The rows of a property list, which is written at the end.
    private var dictionaries: [[String: Any]] = []

    init(
        _ form: ExportForm, _ columns: [OutputColumn], withDefault keysWithDefault: Set<String>, _ exact: ExactValue,
        _ target: ExportTarget
    ) throws {
        self.form = form
        self.keysWithDefault = keysWithDefault
        keys = columns.map(\.name)
        self.exact = exact
        self.target = target
        if form == .csv { try target.write(keys.map(CSVText.field).joined(separator: ",") + "\n") }
    }

    mutating func row(_ cells: [PredicateOperand]) throws {
        switch form {
        case .csv: try target.write(try cells.map(field).joined(separator: ",") + "\n")
        case .ndjson: try target.write(try object(cells) + "\n")
        case .json: try target.write((count == 0 ? "[\n  " : ",\n  ") + (try object(cells)))
        case .plist:
            dictionaries.append(try dictionary(cells))
            if count % 1000 == 999 { try target.checkReader() }
        case .cloudevents, .coredata: break
        }
        count += 1
    }

    func finish() throws -> Int {
        if form == .json { try target.write(count == 0 ? "[]\n" : "\n]\n") }
        if form == .plist {
            let data = try PropertyListSerialization.data(fromPropertyList: dictionaries, format: .xml, options: 0)
            try target.write(String(decoding: data, as: UTF8.self))
        }
        try target.finish()
        return count
    }

    private func field(_ cell: PredicateOperand) throws -> String {
        switch cell {
        case .one(let value): try exact.text(value).map(CSVText.field) ?? ""
        case .many(let values):
            values.isEmpty ? "" : CSVText.field(try values.map(listed).joined(separator: ";"))
        }
    }

    /// The text of a member in a list, which `import` splits at semicolons.
    private func listed(_ value: AttributeValue) throws -> String {
        guard let text = try exact.text(value), !text.isEmpty, !text.contains(";"),
            text == text.trimmingCharacters(in: .whitespaces)
        else {
            let name = try exact.text(value).map { "'\($0)'" } ?? "nil"
            throw UsageError(
                "A list in CSV cannot name a member by \(name): name the members by reference, without an attribute, "
                    + "or write JSON.")
        }
        return text
    }

    private func object(_ cells: [PredicateOperand]) throws -> String {
        var line = "{"
        for (key, cell) in zip(keys, cells) {
            if line.utf8.count > 1 { line += "," }
            line += JSONLine.quoted(key) + ":"
            try JSONLine.append(cell, to: &line, exact.json)
        }
        return line + "}"
    }

    private func dictionary(_ cells: [PredicateOperand]) throws -> [String: Any] {
        var dictionary: [String: Any] = [:]
        for (key, cell) in zip(keys, cells) {
            switch cell {
            case .one(let value):
                dictionary[key] = try exact.property(value) ?? (keysWithDefault.contains(key) ? [String: Any]() : nil)
            case .many(let values):
                dictionary[key] = try values.map { value in
                    guard let member = try exact.property(value) else {
                        throw UsageError("\(key): a property list has no nil, and a member is named by it; write JSON.")
                    }
                    return member
                }
            }
        }
        return dictionary
    }
}

/// The target of an export: standard output, a file that appears when it is complete, or a device or pipe.
final class ExportTarget {
    /// The temporary file that is being written, and the path it is renamed to.
    private struct Part {
        let path: String
        let target: String
    }

    private let path: String
    private var handle: FileHandle?
    /// nil for standard output, devices and pipes, which are written directly.
    private var part: Part?
    private var buffer: [UInt8] = []
    private static let limit = 1 << 18

    /// - Parameter path: `-` for standard output. For a symbolic link, its target is written.
    /// - Throws: `CommandFailure`.
    init(_ path: String) throws {
        self.path = path
        guard path != "-" else { return }
        var status = stat()
        let isThere = stat(path, &status) == 0
        guard !isThere || status.st_mode & S_IFMT == S_IFREG else {
            handle = try Self.open(path, path, O_WRONLY)
            return
        }
        let target = isThere ? URL(filePath: path).resolvingSymlinksInPath().path(percentEncoded: false) : path
        let part = Part(path: "\(target).\(UUID().uuidString.prefix(8)).partial", target: target)
        Interrupt.endAtOnce {
            unlink(part.path)
            return "nothing was written to \(path)."
        }
        handle = try Self.open(part.path, path, O_WRONLY | O_CREAT | O_EXCL)
        if isThere, let handle { fchmod(handle.fileDescriptor, status.st_mode & 0o777) }
        self.part = part
    }

    private static func open(_ path: String, _ name: String, _ flags: Int32) throws -> FileHandle {
        let descriptor = Foundation.open(path, flags | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            throw systemError.ofWriting(name)
        }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    private static var systemError: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }

    deinit {
        if let part { unlink(part.path) }
    }

    var isStandardOutput: Bool { path == "-" }

    /// Ends the command if it writes to a pipe that its reader has closed.
    func checkReader() throws {
        guard part == nil, Output.hasNoReader(handle?.fileDescriptor ?? STDOUT_FILENO) else { return }
        throw ExitCode(ExitStatus.fine)
    }

    func write(_ text: String) throws {
        guard handle != nil else { return Output.shared.text(text) }
        buffer.append(contentsOf: text.utf8)
        if buffer.count > Self.limit { try flush() }
    }

    private func flush() throws {
        do {
            try handle?.write(contentsOf: buffer)
        } catch {
            // As with standard output, it is no error that the reader of a pipe has closed it.
            if part == nil, error.isOfClosedPipe { throw ExitCode(ExitStatus.fine) }
            throw error.ofWriting(path)
        }
        buffer.removeAll(keepingCapacity: true)
    }

    /// Completes the file and gives it its name.
    func finish() throws {
        guard let handle else { return }
        try flush()
        do {
            if part != nil { try handle.synchronize() }
            try handle.close()
        } catch {
            throw error.ofWriting(path)
        }
        self.handle = nil
        guard let part else { return }
        guard rename(part.path, part.target) == 0 else {
            throw Self.systemError.ofWriting(path)
        }
        self.part = nil
    }
}
