// Signs requests to a bucket with the keys of an account.

import Crypto
import Foundation

/// The keys of an account that may read and write a bucket.
public struct BucketCredentials: Sendable, Hashable {
    /// The id of the key.
    public let accessKeyID: String
    let secretAccessKey: String
    let sessionToken: String?

    /// Takes the keys of an account.
    ///
    /// - Parameter sessionToken: for keys that are valid for a while only.
    public init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
    }
}

extension BucketCredentials: CustomStringConvertible, CustomReflectable {
    /// The id of the key, without secrets.
    public var description: String { "key \(accessKeyID)" }

    /// Has no secrets.
    public var customMirror: Mirror { Mirror(self, children: ["accessKeyID": accessKeyID]) }
}

/// Signs a request by version 4 of Amazon's signature: an HMAC of its method, path, query, some headers and the digest of
/// its body, with a key for the day, the region and the service.
struct RequestSignature {
    let credentials: BucketCredentials
    let region: String
    let date: Date

    private static let algorithm = "AWS4-HMAC-SHA256"

    /// The headers to add to a request.
    ///
    /// - Parameters:
    ///   - path: as it is sent, percent-encoded.
    ///   - query: names and values, not encoded.
    ///   - headers: those to sign besides the ones that are added, with lowercase names.
    func headers(
        _ method: String, host: String, path: String, query: [(String, String)], headers: [String: String], body: Data
    ) -> [String: String] {
        let (day, time) = Self.stamps(date)
        let bodyDigest = Self.hexadecimal(SHA256.hash(data: body))
        var signed = headers
        signed["host"] = host
        signed["x-amz-date"] = time
        signed["x-amz-content-sha256"] = bodyDigest
        if let token = credentials.sessionToken { signed["x-amz-security-token"] = token }
        let names = signed.keys.sorted()
        let canonical = [
            method, path, Self.encoded(query),
            names.map { "\($0):\((signed[$0] ?? "").trimmingCharacters(in: .whitespaces))\n" }.joined(),
            names.joined(separator: ";"), bodyDigest,
        ].joined(separator: "\n")
        let scope = "\(day)/\(region)/s3/aws4_request"
        let text = [Self.algorithm, time, scope, Self.hexadecimal(SHA256.hash(data: Data(canonical.utf8)))]
            .joined(separator: "\n")
        let signature = Self.hexadecimal(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key(day)))
        signed["authorization"] =
            "\(Self.algorithm) Credential=\(credentials.accessKeyID)/\(scope), "
            + "SignedHeaders=\(names.joined(separator: ";")), Signature=\(signature)"
        signed["host"] = nil
        return signed
    }

    private func key(_ day: String) -> SymmetricKey {
        var key = SymmetricKey(data: Data("AWS4\(credentials.secretAccessKey)".utf8))
        for part in [day, region, "s3", "aws4_request"] {
            key = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Data(part.utf8), using: key))
        }
        return key
    }

    /// `20261125` and `20261125T101500Z`.
    private static func stamps(_ date: Date) -> (day: String, time: String) {
        var seconds = time_t(date.timeIntervalSince1970)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let day = "\(parts.tm_year + 1900)\(two(parts.tm_mon + 1))\(two(parts.tm_mday))"
        return (day, "\(day)T\(two(parts.tm_hour))\(two(parts.tm_min))\(two(parts.tm_sec))Z")
    }

    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// A query in the order of its names, encoded.
    static func encoded(_ query: [(String, String)]) -> String {
        query.map { (encoded($0.0), encoded($0.1)) }.sorted { $0 < $1 }.map { "\($0.0)=\($0.1)" }
            .joined(separator: "&")
    }

    /// Text with all bytes but letters, digits and `-._~` percent-encoded.
    ///
    /// - Parameter kept: more characters to leave as they are.
    static func encoded(_ text: String, keeping kept: String = "") -> String {
        var result = ""
        for byte in text.utf8 {
            let character = Character(Unicode.Scalar(byte))
            let isPlain = byte < 128 && (character.isLetter || character.isNumber || "-._~".contains(character))
            if isPlain || kept.utf8.contains(byte) {
                result.append(character)
            } else {
                result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return result
    }
}
