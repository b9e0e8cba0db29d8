import ArgumentParser
import DaemonSettings
import Settings

/// Settings whose flags only `watch` has.
struct WatchOptionGroup: ParsableArguments {
    @Option(DeclaredSettings.interval) var interval: GivenFlag?
    @Option(DeclaredSettings.fetchDeadline) var fetchDeadline: GivenFlag?
    @Option(DeclaredSettings.keepFailed) var keepFailed: GivenFlag?
    @Option(DeclaredSettings.keepFailedLimit) var keepFailedLimit: GivenFlag?
    @Flag(DeclaredSettings.notes) var notes = false
    @Option(DeclaredSettings.runLog, "file") var runLog: GivenFlag?
    @Flag(DeclaredSettings.proofs) var proofs: Bool?
    @Option(DeclaredSettings.proofSampling) var proofSampling: GivenFlag?
    @Flag(DeclaredSettings.refresh) var refresh: Bool?
    @Option(DeclaredSettings.cleanRoom) var cleanRoom: GivenFlag?
    @Option(DeclaredSettings.notifyCommand, "command") var notifyCommand: GivenFlag?
    @Option(DeclaredSettings.notifyURL, "url") var notifyUrl: GivenFlag?
    @Option(DeclaredSettings.notifyOn, "event") var notifyOn: [GivenFlag] = []
    @Flag(DeclaredSettings.editedCommands) var commandsEdited = false
    @Option(DeclaredSettings.commandBots, "login") var commandsBot: [GivenFlag] = []
    @Option(DeclaredSettings.listen, "address") var listen: GivenFlag?
    @Option(DeclaredSettings.listenCertificate, "file") var listenCertificate: GivenFlag?
    @Option(DeclaredSettings.listenKey, "file") var listenKey: GivenFlag?
    @Option(DeclaredSettings.listenURL, "url") var listenUrl: GivenFlag?
    @Flag(DeclaredSettings.pages) var pages: Bool?
    @Option(DeclaredSettings.pagesUserHeader, "name") var pagesUserHeader: GivenFlag?
    @Option(DeclaredSettings.pagesOperators, "name") var pagesOperator: [GivenFlag] = []
    @Option(DeclaredSettings.pagesSignIn, "id") var pagesSignIn: GivenFlag?

    func validate() throws {
        if !notifyOn.isEmpty, notifyCommand == nil, notifyUrl == nil {
            throw ValidationError("--notify-on goes with --notify-command or --notify-url")
        }
    }

    /// The flags on the command line.
    var given: [GivenFlag] {
        var given = [
            interval, fetchDeadline, keepFailed, keepFailedLimit, runLog, proofSampling, cleanRoom, notifyCommand,
            notifyUrl, listen, listenCertificate, listenKey, listenUrl, pagesUserHeader, pagesSignIn,
        ].compactMap { $0 }
        given += notifyOn + commandsBot + pagesOperator
        if commandsEdited { given.append(GivenFlag(DeclaredSettings.editedCommands.setting, isOn: true)) }
        if let pages { given.append(GivenFlag(DeclaredSettings.pages.setting, isOn: pages)) }
        if notes { given.append(GivenFlag(DeclaredSettings.notes.setting, isOn: true)) }
        if let proofs { given.append(GivenFlag(DeclaredSettings.proofs.setting, isOn: proofs)) }
        if let refresh { given.append(GivenFlag(DeclaredSettings.refresh.setting, isOn: refresh)) }
        return given
    }
}
