import Foundation
import StrataModel
import StrataStore

/// A whole value, for those that a page shows in part: text as plain text, pictures as such, other data as a file.
enum ValueAnswer {
    static func answer(_ reference: String, _ name: String, _ reading: StudioReading) throws -> StudioAnswer {
        let id = try StudioProblem.of("object") {
            try ObjectReference.parse(reference, in: reading.store, past: true)
        }
        guard let state = try ShownObject.read(id, at: reading.moment, in: reading.store) else {
            throw StudioProblem(404, "There is no such object at this moment.", field: "object")
        }
        let property = try reading.moment.schema.entity(id.entityID).flatMap {
            try reading.propertyNames.property(named: name, of: $0)
        }
        guard let value = state.values.first(where: { $0.property == property?.id })?.value else {
            throw StudioProblem(404, "The object has no value '\(ValueText.harmless(name))'.", field: "property")
        }
        switch value {
        case .data(let data): return answer(data)
        case .blob(let reference): return answer(try reading.store.blob(reference))
        default:
            return StudioAnswer(
                contentType: "text/plain; charset=utf-8", body: Data(try text(of: value, reading).utf8))
        }
    }

    /// All of a value, with which a field for a change begins.
    private static func text(of value: AttributeValue, _ reading: StudioReading) throws -> String {
        guard case .composite = value else {
            return ValueText.exact(value, date: DateText.exact) { reading.names.name(of: $0) }
        }
        return try ExactValue(store: reading.store, names: reading.names, notesEncrypted: true).text(value) ?? ""
    }

    private static func answer(_ data: Data) -> StudioAnswer {
        if let type = pictureType(of: data) { return StudioAnswer(contentType: type, body: data) }
        return StudioAnswer(contentType: "application/octet-stream", body: data, fileName: "value.bin")
    }

    /// The type of a picture that browsers show and that cannot contain a program, by its first bytes.
    static func pictureType(of data: Data) -> String? {
        let start = [UInt8](data.prefix(12))
        func begins(_ bytes: [UInt8], at offset: Int = 0) -> Bool { start.dropFirst(offset).starts(with: bytes) }
        if begins([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
        if begins([0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if begins(Array("GIF8".utf8)) { return "image/gif" }
        if begins(Array("RIFF".utf8)), begins(Array("WEBP".utf8), at: 8) { return "image/webp" }
        return nil
    }
}
