import ArgumentParser
import Settings

/// Settings that only the daemon has flags for.
struct WatchOptionGroup: ParsableArguments {
    @Option(BoxSettings.interval) var interval: GivenFlag?
    @Option(BoxSettings.fetchDeadline) var fetchDeadline: GivenFlag?
    @Option(BoxSettings.keepFailed) var keepFailed: GivenFlag?
    @Option(BoxSettings.keepFailedLimit) var keepFailedLimit: GivenFlag?
    @Flag(BoxSettings.notes) var notes = false
    @Flag(BoxSettings.proofs) var proofs: Bool?
    @Option(BoxSettings.proofSampling) var proofSampling: GivenFlag?
    @Flag(BoxSettings.refresh) var refresh: Bool?
    @Option(BoxSettings.cleanRoom) var cleanRoom: GivenFlag?
    @Option(BoxSettings.notifyCommand, "command") var notifyCommand: GivenFlag?
    @Option(BoxSettings.notifyURL, "url") var notifyUrl: GivenFlag?
    @Option(BoxSettings.notifyOn, "event") var notifyOn: [GivenFlag] = []

    func validate() throws {
        if !notifyOn.isEmpty, notifyCommand == nil, notifyUrl == nil {
            throw ValidationError("--notify-on goes with --notify-command or --notify-url")
        }
    }

    /// The flags that were given.
    var given: [GivenFlag] {
        var given = [
            interval, fetchDeadline, keepFailed, keepFailedLimit, proofSampling, cleanRoom, notifyCommand, notifyUrl,
        ].compactMap { $0 }
        given += notifyOn
        if notes { given.append(GivenFlag(BoxSettings.notes.setting, isOn: true)) }
        if let proofs { given.append(GivenFlag(BoxSettings.proofs.setting, isOn: proofs)) }
        if let refresh { given.append(GivenFlag(BoxSettings.refresh.setting, isOn: refresh)) }
        return given
    }
}
