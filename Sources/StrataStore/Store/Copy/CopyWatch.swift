import Dispatch
import Foundation

/// Reports the progress of a file copy by the size that the copy has reached.
struct CopyWatch {
    private static let interval = DispatchTimeInterval.milliseconds(100)

    /// Runs `body`, which writes into a directory, and reports the number of written bytes meanwhile.
    ///
    /// - Parameter total: the most bytes that there will be.
    static func during<R>(
        _ directory: URL, total: Int, _ progress: ProgressHandler?, _ body: () throws -> R
    ) rethrows -> R {
        guard let progress else { return try body() }
        let path = directory.path(percentEncoded: false)
        let queue = DispatchQueue(label: "strata.copy-watch")
        let timer = DispatchSource.makeTimerSource(queue: queue)
        progress(StoreProgress(phase: "copying", done: 0, total: total, unit: .bytes))
        timer.setEventHandler {
            progress(StoreProgress(phase: "copying", done: size(of: path), total: total, unit: .bytes))
        }
        timer.schedule(deadline: .now() + interval, repeating: interval)
        timer.resume()
        defer {
            timer.cancel()
            // Nothing is reported after this.
            queue.sync {}
        }
        return try body()
    }

    /// The size of the files in a directory.
    private static func size(of path: String) -> Int {
        BlobFile.names(in: path).reduce(0) { sum, name in
            var status = stat()
            guard stat(path + "/" + name, &status) == 0 else { return sum }
            return sum + Int(status.st_size)
        }
    }
}
