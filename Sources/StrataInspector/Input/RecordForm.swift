import Foundation

/// The form of a file of records.
enum RecordForm: String, CaseIterable {
    case plist, json, ndjson, csv

    /// By the end of a file's name.
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
