import Foundation
import Strata

/// What was read of a store, or of its log.
struct Reading {
    private(set) var parts: [String: String] = [:]
    /// The error that came in place of all of it.
    private(set) var error: String?

    init(_ read: () throws -> [String: String]) {
        do {
            parts = try read()
        } catch {
            self.error = Readings.code(of: error)
        }
    }

    /// Parts that are neither those of the sound store nor errors of Strata.
    func wrong(_ sound: [String: String]) -> [String] {
        if let error { return error.hasPrefix("untyped") ? [error] : [] }
        let isError = { (part: String) in part.hasPrefix("error") && !part.hasPrefix("error untyped") }
        return sound.filter { name, value in
            guard let part = parts[name] else {
                // The list of the objects could not be read.
                return parts["all \(name.prefix { $0 != " " })"].map(isError) != true
            }
            return part != value && !isError(part)
        }.map(\.key)
    }

    var hasErrors: Bool { error != nil || parts.values.contains { $0.hasPrefix("error") } }

    var logProblems: Set<String> {
        let ofLog = ["event", "payload", "transaction", "chain", "head"].map { "problem \($0)" }
        return Set(
            parts.filter { part in
                part.key.hasPrefix("transaction") && part.value.hasPrefix("error")
                    || ofLog.contains { part.key.hasPrefix($0) }
            }.map { "\($0.key) \($0.value)" })
    }
}
