import Foundation
import Locking
import StrataModel
import StrataStore

/// Shows the progress of a command on standard error. On a terminal it rewrites one line, from the first second on;
/// elsewhere it prints a line from time to time if `STRATA_PROGRESS` asks for it.
///
/// `state` is guarded by its mutex.
final class ProgressLine: Sendable {
    /// The interval at which a line is printed, from `STRATA_PROGRESS`: `never`, or the seconds between two lines.
    struct Pace: Equatable {
        let isRewritten: Bool
        let start: Duration
        let interval: Duration

        /// nil for never.
        init?(_ word: String?, isTerminal: Bool) {
            if word == "never" { return nil }
            let seconds = word.flatMap { Double($0) }.flatMap { 0...86_400 ~= $0 ? $0 : nil }
            guard isTerminal || seconds != nil else { return nil }
            isRewritten = isTerminal
            start = .seconds(seconds ?? 1)
            interval = seconds.map { .seconds($0) } ?? .milliseconds(200)
        }
    }

    private struct State {
        var phase = ""
        var phaseStart = ContinuousClock.now
        /// The progress of an earlier run when the phase began.
        var doneBefore = 0
        var lastPrint: ContinuousClock.Instant?
        var isShown = false
        var isFinished = false
    }

    private let state = Locked(State())
    private let start = ContinuousClock.now
    private let pace: Pace?

    /// - Parameter besideOutput: whether the command prints at the same time; on one terminal the two would mix.
    init(besideOutput: Bool = false) {
        let isMixed = besideOutput && Terminal.isThere(STDOUT_FILENO)
        pace = Pace(
            isMixed ? "never" : ProcessInfo.processInfo.environment["STRATA_PROGRESS"],
            isTerminal: Terminal.isRewritable(STDERR_FILENO))
    }

    var handler: ProgressHandler {
        { [self] progress in update(progress) }
    }

    private func update(_ progress: StoreProgress) {
        guard let pace, !Interrupt.isEnding else { return }
        state.withLock { state in
            let now = ContinuousClock.now
            if progress.phase != state.phase {
                state.phase = progress.phase
                state.phaseStart = now
                state.doneBefore = progress.done
            }
            guard !state.isFinished, now - start >= pace.start, now - (state.lastPrint ?? start) >= pace.interval else {
                return
            }
            state.lastPrint = now
            let text = Self.text(progress, doneBefore: state.doneBefore, now - state.phaseStart)
            if pace.isRewritten {
                // A longer text would go on in a second line, which is not written again.
                let shown = Terminal.width(of: STDERR_FILENO).map { TextWidth.cut(text, to: $0) } ?? text
                Output.printErrorPart(Terminal.clearedLine + shown)
                state.isShown = true
            } else {
                Output.printError(text)
            }
        }
    }

    /// `records: 12,000 of 50,000 (24 %), 8,000/s, 5 s left`.
    static func text(_ progress: StoreProgress, doneBefore: Int = 0, _ elapsed: Duration) -> String {
        var text = "\(progress.phase): \(count(progress.done, progress.unit))"
        if progress.total > 0 {
            let percent = min(100, progress.done * 100 / progress.total)
            text += " of \(count(progress.total, progress.unit)) (\(percent) %)"
        }
        let seconds = elapsed / .seconds(1)
        guard progress.done > doneBefore, seconds > 0 else { return text }
        let rate = Double(progress.done - doneBefore) / seconds
        text += ", \(count(Int(min(rate, 1e15)), progress.unit))/s"
        guard progress.total > 0 else { return text }
        return text + ", \(timeLeft(Double(max(0, progress.total - progress.done)) / rate)) left"
    }

    private static func count(_ number: Int, _ unit: StoreProgress.Unit) -> String {
        unit == .bytes ? ValueText.size(UInt64(max(0, number))) : ValueText.count(number)
    }

    /// `5 s`, `2 min 5 s`, `3 h 2 min`.
    private static func timeLeft(_ seconds: Double) -> String {
        let whole = Int(min(seconds.rounded(.up), 1e9))
        if whole < 100 { return "\(whole) s" }
        if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
        return "\(whole / 3600) h \(whole % 3600 / 60) min"
    }

    /// Removes the line; nothing is shown after this.
    func finish() {
        let isShown = state.withLock { state in
            defer { (state.isShown, state.isFinished) = (false, true) }
            return state.isShown
        }
        if isShown { Terminal.clearErrorLine() }
    }
}
