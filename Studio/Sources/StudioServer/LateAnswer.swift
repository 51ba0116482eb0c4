import ServiceLifecycle

/// An answer that is being made, and for which its request waits a short time first.
struct LateAnswer<Answer: Sendable>: Sendable {
    private let making: Task<Answer, Never>
    /// Says true when the answer is there, and false when the short time is over.
    private let signals: AsyncStream<Bool>
    private let source: AsyncStream<Bool>.Continuation

    /// Begins to make an answer. It is cancelled when the server ends.
    init(_ make: @escaping @Sendable () async -> Answer) {
        let (signals, source) = AsyncStream<Bool>.makeStream()
        (self.signals, self.source) = (signals, source)
        making = Task {
            let answer = await cancelWhenGracefulShutdown(make)
            source.yield(true)
            return answer
        }
    }

    /// The answer; nil if it takes longer.
    func answer(within duration: Duration) async -> Answer? {
        let timer = Task { [source] in
            do { try await Task.sleep(for: duration) } catch { return }
            source.yield(false)
        }
        defer { timer.cancel() }
        for await isThere in signals { return isThere ? await making.value : nil }
        return nil
    }

    /// The answer. Cancelling its caller cancels what makes it.
    var answer: Answer {
        get async {
            await withTaskCancellationHandler {
                await making.value
            } onCancel: {
                making.cancel()
            }
        }
    }
}
