import Foundation

/// Reads the answers of a bucket, which are flat XML without attributes that matter.
struct BucketXML {
    private let text: Substring

    init(_ data: Data) { text = Substring(String(decoding: data, as: UTF8.self)) }

    private init(_ text: Substring) { self.text = text }

    /// The elements of a name, in order. None of them holds another of the same name.
    func elements(_ name: String) -> [BucketXML] {
        var found: [BucketXML] = []
        var rest = text
        while let start = rest.firstRange(of: "<\(name)>") {
            let content = rest[start.upperBound...]
            guard let end = content.firstRange(of: "</\(name)>") else { break }
            found.append(BucketXML(content[..<end.lowerBound]))
            rest = content[end.upperBound...]
        }
        return found
    }

    /// The text of the first element of a name; nil if there is none.
    func text(_ name: String) -> String? { elements(name).first.map { Self.unescaped($0.text) } }

    private static let entities = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"]

    private static func unescaped(_ text: Substring) -> String {
        var result = ""
        var rest = text
        while let start = rest.firstIndex(of: "&") {
            result += rest[..<start]
            let after = rest[rest.index(after: start)...]
            guard let end = after.firstIndex(of: ";") else { break }
            result += character(after[..<end]) ?? "&\(after[..<end]);"
            rest = after[after.index(after: end)...]
        }
        return result + rest
    }

    private static func character(_ name: Substring) -> String? {
        guard name.hasPrefix("#") else { return entities[String(name)] }
        let digits = name.dropFirst()
        let number = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return number.flatMap(Unicode.Scalar.init).map { String(Character($0)) }
    }
}
