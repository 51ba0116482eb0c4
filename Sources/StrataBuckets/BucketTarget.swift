public import Foundation
import Locking
import StrataModel
public import StrataShipping

/// A bucket of Amazon S3, or of a server with the same interface, that keeps a copy of a store's log.
///
/// ```swift
/// import StrataBuckets
/// import StrataShipping
///
/// let keys = BucketCredentials(accessKeyID: "AKIA…", secretAccessKey: "…")
/// let bucket = BucketTarget("backups", prefix: "Movies", region: "eu-central-1", credentials: keys)
/// try container.ship(to: bucket)
/// ```
///
/// Files are written on the condition that there is none of their name (`If-None-Match`). With a server that does not know
/// this condition, a file of the same name is looked for first.
public struct BucketTarget: ShippingTarget {
    private let connection: BucketConnection
    /// The path to the bucket at the server, percent-encoded; empty if the server's name has the bucket.
    private let bucketPath: String
    /// Before each name; empty, or ends with `/`.
    private let prefix: String
    /// Whether the server has proved not to support conditions.
    private let lacksConditions = Locked(false)

    /// The address, such as `s3://backups/Movies`.
    public let label: String

    /// Names a bucket.
    ///
    /// - Parameters:
    ///   - prefix: the folder in the bucket, without `/` at its end; empty for the whole bucket.
    ///   - endpoint: the address of another server than Amazon's, such as `http://localhost:9000`.
    public init(
        _ bucket: String, prefix: String = "", region: String = "us-east-1", endpoint: URL? = nil,
        credentials: BucketCredentials
    ) {
        let trimmed = prefix.split(separator: "/").joined(separator: "/")
        self.prefix = trimmed.isEmpty ? "" : trimmed + "/"
        label = "s3://\(bucket)" + (trimmed.isEmpty ? "" : "/\(trimmed)")
        // Certificates of Amazon's servers do not cover names with more dots.
        let isInHost = endpoint == nil && !bucket.contains(".")
        bucketPath = isInHost ? "" : "/" + RequestSignature.encoded(bucket)
        let host = "\(isInHost ? bucket + "." : "")s3.\(region).amazonaws.com"
        let server = endpoint ?? URL(string: "https://\(host)") ?? URL(filePath: "/")
        connection = BucketConnection(server: server, region: region, credentials: credentials, label: label)
    }

    /// Reads the address `s3://BUCKET/PREFIX`, and keys, region and server from variables of the environment:
    /// `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION` and `AWS_ENDPOINT_URL`.
    ///
    /// - Throws: `invalidRequest` if something is missing.
    public init(address: String, environment: [String: String]) throws {
        func refuse(_ text: String) -> StrataError { StrataError(.invalidRequest, text) }
        let scheme = "s3://"
        let parts = address.dropFirst(scheme.count).split(separator: "/", maxSplits: 1)
        guard address.hasPrefix(scheme), let bucket = parts.first else {
            throw refuse("'\(address)' is no address of a bucket, such as s3://my-bucket/Movies.")
        }
        guard let id = environment["AWS_ACCESS_KEY_ID"], let secret = environment["AWS_SECRET_ACCESS_KEY"] else {
            throw refuse("A bucket needs the keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.")
        }
        var endpoint: URL?
        if let text = environment["AWS_ENDPOINT_URL"], !text.isEmpty {
            guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host() != nil else {
                throw refuse("AWS_ENDPOINT_URL is '\(text)', which is no address of a server.")
            }
            endpoint = url
        }
        self.init(
            String(bucket), prefix: parts.count > 1 ? String(parts[1]) : "",
            region: environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"] ?? "us-east-1", endpoint: endpoint,
            credentials: BucketCredentials(
                accessKeyID: id, secretAccessKey: secret, sessionToken: environment["AWS_SESSION_TOKEN"]))
    }

    private func path(_ name: String) -> String {
        bucketPath + "/" + RequestSignature.encoded(prefix + name, keeping: "/")
    }

    /// The files whose names begin with `prefix`, a thousand in each request.
    public func entries(under prefix: String, after start: String?) throws -> [TargetEntry] {
        var found: [TargetEntry] = []
        var token: String?
        repeat {
            var query = [("list-type", "2"), ("prefix", self.prefix + prefix)]
            if let token { query.append(("continuation-token", token)) }
            if let start, token == nil { query.append(("start-after", self.prefix + start)) }
            let answer = try connection.send("GET", bucketPath + "/", query: query)
            guard answer.status == 200 else { throw connection.refusal(answer) }
            let list = BucketXML(answer.body)
            found += list.elements("Contents").compactMap(entry)
            token = list.text("IsTruncated") == "true" ? list.text("NextContinuationToken") : nil
        } while token != nil
        return found.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    private func entry(_ element: BucketXML) -> TargetEntry? {
        guard let key = element.text("Key"), key.hasPrefix(prefix), let size = element.text("Size").flatMap({ Int($0) })
        else { return nil }
        return TargetEntry(
            name: String(key.dropFirst(prefix.count)), sizeInBytes: size,
            date: element.text("LastModified").flatMap { Date(iso8601Text: $0) })
    }

    /// The content of a file, in one request.
    public func read(_ name: String) throws -> Data? {
        let answer = try connection.send("GET", path(name))
        if answer.status == 404, answer.code != "NoSuchBucket" { return nil }
        guard answer.status == 200 else { throw connection.refusal(answer) }
        return answer.body
    }

    /// Writes a file in one request, which the server carries out whole or not at all.
    public func write(_ data: Data, to name: String) throws -> TargetWrite {
        if lacksConditions.withLock({ $0 }) { return try writeAfterLook(data, name) }
        let answer = try connection.send("PUT", path(name), headers: ["if-none-match": "*"], body: data)
        switch answer.status {
        case 200: return .written
        case 412: return .existed
        // Another write of this name is under way.
        case 409: return try writeAfterLook(data, name)
        case 501:
            lacksConditions.withLock { $0 = true }
            return try writeAfterLook(data, name)
        default: throw connection.refusal(answer)
        }
    }

    /// Files of one name have the same content, so it does no harm if two are written at the same time.
    private func writeAfterLook(_ data: Data, _ name: String) throws -> TargetWrite {
        let found = try connection.send("HEAD", path(name))
        if found.status == 200 { return .existed }
        guard found.status == 404 else { throw connection.refusal(found) }
        try replace(name, with: data)
        return .written
    }

    /// Writes a file in one request, which the server carries out whole or not at all. A bucket with versions keeps the
    /// one before.
    public func replace(_ name: String, with data: Data) throws {
        let answer = try connection.send("PUT", path(name), body: data)
        guard answer.status == 200 else { throw connection.refusal(answer) }
    }

    /// Removes a file.
    public func remove(_ name: String) throws {
        let answer = try connection.send("DELETE", path(name))
        guard [200, 204, 404].contains(answer.status) else { throw connection.refusal(answer) }
    }
}
