import Foundation
import Locking
import StrataStore

/// Tells on standard error how far a command is, once it has taken a second: on a terminal in one line that is written
/// again and again, elsewhere in a line every ten seconds.
///
/// `state` is guarded by its mutex.
final class ProgressLine: Sendable {
    private struct State {
        var phase = ""
        var phaseStart = ContinuousClock.now
        var lastPrint: ContinuousClock.Instant?
        var isShown = false
    }

    private let state = Locked(State())
    private let start = ContinuousClock.now
    private let isTerminal = isatty(STDERR_FILENO) == 1

    var handler: ProgressHandler {
        { [self] progress in update(progress) }
    }

    private func update(_ progress: StoreProgress) {
        state.withLock { state in
            let now = ContinuousClock.now
            if progress.phase != state.phase {
                state.phase = progress.phase
                state.phaseStart = now
            }
            guard now - start > .seconds(1),
                now - (state.lastPrint ?? start) > (isTerminal ? .milliseconds(200) : .seconds(10))
            else { return }
            state.lastPrint = now
            let text = Self.text(progress, now - state.phaseStart)
            if isTerminal {
                Output.printErrorPart("\r\u{1B}[K\(text)")
                state.isShown = true
            } else {
                Output.printError(text)
            }
        }
    }

    private static func text(_ progress: StoreProgress, _ elapsed: Duration) -> String {
        var text = "\(progress.phase): \(ValueText.count(progress.done))"
        let seconds = elapsed / .seconds(1)
        guard progress.done > 0, seconds > 0 else { return text }
        let rate = Double(progress.done) / seconds
        guard progress.total > 0 else { return text + ", \(ValueText.count(Int(rate)))/s" }
        text += " of \(ValueText.count(progress.total)) (\(progress.done * 100 / progress.total) %)"
        text += ", \(ValueText.count(Int(rate)))/s"
        text += ", \(Int(Double(max(0, progress.total - progress.done)) / max(rate, 1))) s left"
        return text
    }

    /// Takes the line away again.
    func finish() {
        let isShown = state.withLock { $0.isShown }
        if isShown { Output.printErrorPart("\r\u{1B}[K") }
    }
}
