import NIOCore
import NIOHTTPTypes

/// Closes a connection if its client does not take an answer.
///
/// What a client has not taken waits in memory. A client that reads nothing, or a few bytes now and then, could hold that
/// memory and its connection for ever. A client that takes its answer slowly gets all of it: the server's own time limit
/// begins when the answer was made, so a connection that it closes is kept until the answer was taken.
final class AnswerDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// How many bytes a second a client takes at least while an answer waits.
    private static let slowest = 1024.0

    /// What the system keeps for a client. It asks for more only when a third of that is taken, so with much more a client
    /// would seem to take nothing for long.
    private static let sendBuffer = 128 << 10

    private let patience: TimeAmount
    /// The next look at what waits; nil while the client takes what comes.
    private var look: Scheduled<Void>?
    /// Whether the connection is to be closed when the answer was taken.
    private var isClosing = false

    init(_ patience: TimeAmount) { self.patience = patience }

    func handlerAdded(context: ChannelHandlerContext) {
        do {
            try context.channel.syncOptions?.setOption(.socketOption(.so_sndbuf), value: Self.sendBuffer)
        } catch {
            context.fireErrorCaught(error)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable, !isClosing {
            look?.cancel()
            look = nil
        } else if look == nil {
            schedule(waiting(context), context)
        }
        context.fireChannelWritabilityChanged()
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        let waiting = waiting(context)
        guard mode == .all, promise == nil, !isClosing, waiting > 0 else {
            return context.close(mode: mode, promise: promise)
        }
        isClosing = true
        if look == nil { schedule(waiting, context) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        look?.cancel()
        context.fireChannelInactive()
    }

    /// The bytes that the system has not taken yet for the client.
    private func waiting(_ context: ChannelHandlerContext) -> Int {
        do {
            return try context.channel.syncOptions?.getOption(.bufferedWritableBytes) ?? 0
        } catch {
            context.fireErrorCaught(error)
            return 0
        }
    }

    /// - Parameter before: the bytes that wait now.
    private func schedule(_ before: Int, _ context: ChannelHandlerContext) {
        look = context.eventLoop.assumeIsolated().scheduleTask(in: patience) { [self] in
            let now = waiting(context)
            let least = Self.slowest * Double(patience.nanoseconds) / 1e9
            if Double(before - now) < least || isClosing && now == 0 {
                context.close(promise: nil)
            } else {
                schedule(now, context)
            }
        }
    }
}
