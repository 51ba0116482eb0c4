import Foundation

/// The file formats that `import` reads.
enum RecordForm: String, CaseIterable {
    case plist, json, ndjson, csv

    /// The form that a file name's extension stands for; nil for others.
    init?(path: String) {
        switch URL(filePath: path).pathExtension.lowercased() {
        case "plist": self = .plist
        case "json": self = .json
        case "ndjson", "jsonl": self = .ndjson
        case "csv", "tsv": self = .csv
        default: return nil
        }
    }
}
