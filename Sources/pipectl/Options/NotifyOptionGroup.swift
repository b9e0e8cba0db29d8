public import ArgumentParser
public import BuildBox

/// Who is told what happens.
struct NotifyOptionGroup: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Run this command line for each event, with the event as JSON on standard input; retried until it exits with 0.",
            valueName: "command"))
    var notifyCommand: String?
    @Option(
        help: ArgumentHelp(
            "POST each event as JSON to this URL with curl; retried until it succeeds.", valueName: "url"))
    var notifyUrl: String?
    @Option(
        help: ArgumentHelp(
            "An event: branch, change, red, green, release or approval; may be repeated. Default: all but change.",
            valueName: "event"))
    var notifyOn: [NotifyEvent.Kind] = []

    func validate() throws {
        if let notifyUrl, !notifyUrl.hasPrefix("http://"), !notifyUrl.hasPrefix("https://") {
            throw ValidationError("--notify-url takes an http or https URL, not \"\(notifyUrl)\"")
        }
        if let notifyUrl, notifyUrl.unicodeScalars.contains(where: { $0.value <= 0x20 || $0.value == 0x7F }) {
            throw ValidationError("--notify-url takes a URL without spaces")
        }
        if !notifyOn.isEmpty, notifyCommand == nil, notifyUrl == nil {
            throw ValidationError("--notify-on goes with --notify-command or --notify-url")
        }
    }

    func options() -> NotifyOptions {
        var options = NotifyOptions()
        (options.command, options.url) = (notifyCommand, notifyUrl)
        if !notifyOn.isEmpty { options.events = Set(notifyOn) }
        return options
    }
}

extension NotifyEvent.Kind: ExpressibleByArgument {}
