public import Hummingbird
public import HummingbirdCore
public import Logging
public import NIOCore

/// What clients may have of the server at a time: without a bound, connections that send nothing take every descriptor.
public enum StudioConnections {
    /// More wait until others end.
    public static let most = 200

    /// A server that closes connections on which no whole head of a request comes for some time, or no whole body after
    /// the head, and those whose client does not take an answer.
    public static func server(patience: TimeAmount = .seconds(60)) -> HTTPServerBuilder {
        .http1(
            configuration: .init(
                additionalChannelHandlers: [BodyDeadline(patience), AnswerDeadline(patience)], idleTimeout: patience))
    }

    /// How the server listens.
    public static func configuration(
        _ address: BindAddress, most: Int = most, logger: Logger
    ) -> ApplicationConfiguration {
        .init(address: address, availableConnectionsDelegate: MaximumAvailableConnections(most, logger: logger))
    }
}
