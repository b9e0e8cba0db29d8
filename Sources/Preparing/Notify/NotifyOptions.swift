/// The receivers of notifications, and the events that they get.
public struct NotifyOptions: Sendable, Equatable {
    /// A command line for `/bin/sh`, which gets the event as JSON on standard input.
    public var command: String?
    /// An http or https URL, which gets the event as the body of a POST.
    public var url: String?
    /// The kinds of events that are sent.
    public var events: Set<NotifyEvent.Kind> = [.branch, .red, .green, .release, .approval]
    /// How long one delivery may take.
    public var deadline = Duration.seconds(30)

    public init() {}

    package var isWanted: Bool { command != nil || url != nil }

    /// Each receiver has outbox items of its own, so a failed one is retried alone.
    package enum Receiver: String, CaseIterable { case command, url }

    package var receivers: [Receiver] { Receiver.allCases.filter { ($0 == .command ? command : url) != nil } }
}
