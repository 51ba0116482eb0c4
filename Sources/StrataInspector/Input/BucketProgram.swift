// Runs `strata-s3`, the program with an HTTP client, when a command names a bucket.

import Foundation
import Locking
import StrataModel
public import StrataShipping

/// Makes the target of an address such as `s3://backups/Movies`, with the variables of the environment.
public typealias BucketMaker = @Sendable (String, [String: String]) throws -> any ShippingTarget

/// The program `strata-s3`, which is this one with an HTTP client. It takes over when a command names a bucket.
enum BucketProgram {
    private static let name = "strata-s3"
    private static let maker = Locked<BucketMaker?>(nil)

    /// Sets how this program makes buckets.
    static func use(_ make: BucketMaker?) { maker.withLock { $0 = make } }

    static func target(_ address: String) throws -> any ShippingTarget {
        guard let make = maker.withLock({ $0 }) else {
            throw StrataError(
                .targetUnavailable,
                "Buckets need the program \(name), which is not beside this one. Build it: "
                    + "swift build --product \(name).")
        }
        return try make(address, ProcessInfo.processInfo.environment)
    }

    /// Runs `strata-s3` in place of this program if an argument is the address of a bucket. Returns if none is, if this
    /// is `strata-s3`, or if it is not there.
    static func takeOver(_ arguments: [String]) {
        guard maker.withLock({ $0 == nil }), arguments.contains(where: { $0.hasPrefix("s3://") }),
            let path = Bundle.main.executableURL?.deletingLastPathComponent().appending(component: name)
                .path(percentEncoded: false), access(path, X_OK) == 0
        else { return }
        var words = arguments.map { strdup($0) }
        words.append(nil)
        // Only returns if it fails; then the command says that the program cannot be used.
        execv(path, words)
        for word in words { free(word) }
    }
}
