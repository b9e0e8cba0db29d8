/// Whom events are sent to.
public struct NotifyOptions: Sendable, Equatable {
    /// A command line for `/bin/sh`, which gets the event as JSON on standard input.
    public var command: String?
    /// An http or https URL, which gets it as the body of a POST.
    public var url: String?
    public var events: Set<NotifyEvent.Kind> = [.branch, .red, .green, .release, .approval]
    /// How long one delivery may take.
    public var deadline = Duration.seconds(30)

    public init() {}

    package var isWanted: Bool { command != nil || url != nil }

    /// Each gets an outbox item of its own, so that one that fails is tried again alone.
    package enum Receiver: String, CaseIterable { case command, url }

    package var receivers: [Receiver] { Receiver.allCases.filter { ($0 == .command ? command : url) != nil } }
}
