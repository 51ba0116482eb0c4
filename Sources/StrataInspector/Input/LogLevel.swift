import ArgumentParser
import Logging

/// The level from which the store's log goes to standard error while a command runs.
enum LogLevel: String, ExpressibleByArgument, CaseIterable {
    case trace, debug, info, notice, warning, error, critical

    private var level: Logger.Level {
        switch self {
        case .trace: .trace
        case .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        case .critical: .critical
        }
    }

    /// Lets all loggers that are made from now on write messages of this level and above. Called once in a process.
    func begin() {
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
    }
}

/// A command that works on a store.
protocol StoreCommand: ParsableCommand {
    var store: StoreArguments { get }
}
