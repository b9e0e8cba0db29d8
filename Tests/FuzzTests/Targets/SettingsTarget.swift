import DaemonSettings
import Foundation
import Preparing
import Settings
import TestBasics

/// A settings file: its owner is trusted, but the content may be anything.
extension FuzzTarget {
    static let settingsFile: FuzzTarget = .pure(
        "settings",
        words: [
            "\"repositories\":{", "\"location\":", "\"limits\":{\"run\":{", "24h", "10GiB", "\\ud83d", "\u{FEFF}", "//",
        ],
        isJSON: true, limit: 64 << 10, corpus: settingsFiles
    ) { bytes, _ in
        let table = DeclaredSettings.table
        let settings: ResolvedSettings
        do throws(SettingsError) {
            let document = try SettingsDocument(bytes, path: "/box/config.json", table: table)
            settings = try SettingsResolver(table: table, document: document, environment: [:], flags: []).resolve()
        } catch {
            try demand(!error.problems.isEmpty, "refused without a reason")
            let lines = bytes.count { $0 == 0x0A } + 1
            for problem in error.problems {
                try demand(
                    problem.line.map { (1...lines).contains($0) } ?? true, "line \(problem.line ?? 0) of \(lines)")
                try demand(problem.sentence.utf8.count < 8_000, "a sentence of \(problem.sentence.utf8.count) bytes")
            }
            try demand(error.description.utf8.count < 400_000, "a description of \(error.description.utf8.count) bytes")
            return
        }
        // Accepted settings can be used and shown, and are the same when they are read again.
        let configuration = try settings.configuration(isDaemon: true)
        try demand(configuration.options.slots >= 1, "no slots")
        for (key, entry) in settings.entries where entry.source.kind == .file {
            guard let setting = table[key] else { throw FuzzViolation("a value without a setting: \(key)") }
            let again = try setting.read(entry.value.texts)
            switch entry.value {
            // Shares are written as Swift writes a Double.
            case .list, .counts, .flag, .whole, .text, .share, .size, .duration:
                try demand(again == entry.value, "\(key) is \(again), not \(entry.value)")
            }
        }
        _ = try JSONEncoder().encode(settings.records)
    }

    @Sendable private static func settingsFiles() throws -> [[UInt8]] {
        Corpus.texts(
            "{}", "{\n  \"slots\": 4,\n  \"grace\": \"10s\",\n  \"logLimit\": \"16MiB\"\n}\n",
            #"{"limits":{"step":{"memory":"4GiB","cpuTime":"1.5h","processes":0},"tree":{"entries":10}},"resources":{"gpu":1}}"#,
            #"{"trust":{"protected":["release/*"]},"proofs":{"enabled":false,"sampling":0.5e-1},"notify":{"on":["red"]}}"#,
            #"{"repositories":{"web":{"location":"/srv/web.git","changes":["a/*"],"interval":"90s","target":"main"}}}"#,
            #"{"watch":{"since":"2026-01-31"},"notify":{"url":"https://x/y","command":"a\nb\u00e9"},"verbose":true}"#)
    }
}
