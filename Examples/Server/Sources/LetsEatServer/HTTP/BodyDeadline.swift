import NIOCore
import NIOHTTPTypes

/// Closes a connection whose request is not there as a whole in some time after its head.
///
/// The server's own bound begins anew with each part, so without this a body that comes in drops is waited for without
/// end.
final class BodyDeadline: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    private let patience: TimeAmount
    private var closing: Scheduled<Void>?

    init(_ patience: TimeAmount) { self.patience = patience }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            let channel = context.channel
            closing = context.eventLoop.scheduleTask(in: patience) { channel.close(promise: nil) }
        case .body: break
        case .end: closing?.cancel()
        }
        context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
        closing?.cancel()
        context.fireChannelInactive()
    }
}
