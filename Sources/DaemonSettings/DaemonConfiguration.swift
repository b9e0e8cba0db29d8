import Pipeline
package import Preparing
package import Settings
package import Watching

/// The values of all settings, in the form that the daemon and the watchers take.
package struct DaemonConfiguration {
    package var options = DaemonOptions()
    package var watching = WatchOptions()
    var protected: [String] = []
    var allowedAuthors: [String] = []
    var protectedPaths: [String] = []
    var contributors = ContributorRule.contributors
    package var isVerbose = false
    package var logFormat: String?

    /// - Throws: ``GlobProblem`` for an invalid pattern; the table's checks reject these before.
    func finished() throws -> DaemonConfiguration {
        var result = self
        result.options.trust = try TrustPolicy(
            protected: protected, allowedAuthors: allowedAuthors, protectedPaths: protectedPaths)
        result.options.trust.contributors = contributors
        return result
    }
}

/// One setting of the daemon, and where its value is stored.
package struct DeclaredSetting: Sendable {
    package let setting: Setting
    /// Whether it affects the daemon only. A process that runs a single command then ignores the setting's default.
    var isOfDaemon = false
    let apply: @Sendable (SettingValue, inout DaemonConfiguration) -> Void

    /// Marks a setting that affects the daemon only.
    func ofDaemon() -> DeclaredSetting {
        var copy = self
        copy.isOfDaemon = true
        return copy
    }
}

// One function for each kind of setting. Defaults come from DaemonOptions and WatchOptions, so that each is declared once.
extension DeclaredSetting {
    typealias Path<Value> = WritableKeyPath<DaemonConfiguration, Value> & Sendable
    typealias Check = @Sendable (String) -> String?

    static func whole(
        _ key: String, _ range: ClosedRange<Int>, _ path: any Path<Int>, flag: Setting.Flag?, _ summary: String
    ) -> DeclaredSetting {
        DeclaredSetting(
            setting: Setting(
                key, .whole(range), standard: .whole(DaemonConfiguration()[keyPath: path]), flag: flag, summary)
        ) { value, daemon in
            if case .whole(let number) = value { daemon[keyPath: path] = number }
        }
    }

    /// A limit; 0 means no limit.
    static func limit(
        _ key: String, _ path: any Path<Int?>, note: String? = nil, flag: Setting.Flag?, _ summary: String
    ) -> DeclaredSetting {
        let standard = DaemonConfiguration()[keyPath: path].map(SettingValue.whole)
        return DeclaredSetting(
            setting: Setting(
                key, .whole(0...1_000_000_000), standard: standard, note: note ?? (standard == nil ? "no limit" : nil),
                flag: flag, summary)
        ) { value, daemon in
            if case .whole(let number) = value { daemon[keyPath: path] = number == 0 ? nil : number }
        }
    }

    static func size(
        _ key: String, _ range: ClosedRange<Int>, _ path: any Path<Int>, flag: Setting.Flag?, bare: SizeText.Unit,
        _ summary: String
    ) -> DeclaredSetting {
        DeclaredSetting(
            setting: Setting(
                key, .size(range), standard: .size(DaemonConfiguration()[keyPath: path]), flag: flag, bare: .size(bare),
                summary)
        ) { value, daemon in
            if case .size(let bytes) = value { daemon[keyPath: path] = bytes }
        }
    }

    /// A limit in bytes; 0 means no limit.
    static func sizeLimit(
        _ key: String, _ path: any Path<Int?>, note: String? = nil, flag: Setting.Flag?, _ summary: String
    ) -> DeclaredSetting {
        let standard = note == nil ? DaemonConfiguration()[keyPath: path].map(SettingValue.size) : nil
        return DeclaredSetting(
            setting: Setting(
                key, .size(0...1 << 50), standard: standard, note: note ?? (standard == nil ? "no limit" : nil),
                flag: flag, bare: .size(.mebibytes), summary)
        ) { value, daemon in
            if case .size(let bytes) = value { daemon[keyPath: path] = bytes == 0 ? nil : bytes }
        }
    }

    /// A time limit; 0 means no limit.
    static func timeLimit(_ key: String, _ path: any Path<Double?>, flag: Setting.Flag?, _ summary: String)
        -> DeclaredSetting
    {
        DeclaredSetting(
            setting: Setting(
                key, .duration(.zero ... .seconds(864_000_000)), standard: nil, note: "no limit", flag: flag,
                bare: .time(.seconds), summary)
        ) { value, daemon in
            if case .duration(let time) = value { daemon[keyPath: path] = time == .zero ? nil : time / .seconds(1) }
        }
    }

    static func duration(
        _ key: String, _ range: ClosedRange<Duration>, _ path: any Path<Duration>, flag: Setting.Flag?,
        bare: DurationText.Unit?, isPerRepository: Bool = false, _ summary: String
    ) -> DeclaredSetting {
        DeclaredSetting(
            setting: Setting(
                key, .duration(range), standard: .duration(DaemonConfiguration()[keyPath: path]), flag: flag,
                bare: bare.map { .time($0) }, isPerRepository: isPerRepository, summary)
        ) { value, daemon in
            if case .duration(let time) = value { daemon[keyPath: path] = time }
        }
    }

    static func flag(
        _ key: String, _ path: any Path<Bool>, standard: Bool? = nil, flag: Setting.Flag?, _ summary: String
    ) -> DeclaredSetting {
        DeclaredSetting(
            setting: Setting(
                key, .flag, standard: .flag(standard ?? DaemonConfiguration()[keyPath: path]), flag: flag, summary)
        ) { value, daemon in
            if case .flag(let isOn) = value { daemon[keyPath: path] = isOn }
        }
    }

    static func text(
        _ key: String, _ path: any Path<String?>, note: String? = nil, flag: Setting.Flag?,
        isPerRepository: Bool = false, isPrivate: Bool = false, _ summary: String, check: Check? = nil
    ) -> DeclaredSetting {
        DeclaredSetting(
            setting: Setting(
                key, .text, standard: nil, note: note, flag: flag, isPerRepository: isPerRepository,
                isPrivate: isPrivate, summary, check: check)
        ) { value, daemon in
            if case .text(let text) = value { daemon[keyPath: path] = text }
        }
    }

    static func list(
        _ key: String, _ path: any Path<[String]>, flag: Setting.Flag?, isPerRepository: Bool = false,
        _ summary: String,
        check: Check? = nil
    ) -> DeclaredSetting {
        DeclaredSetting(
            setting: Setting(
                key, .list, standard: .list([]), flag: flag, isPerRepository: isPerRepository, summary, check: check)
        ) { value, daemon in
            if case .list(let texts) = value { daemon[keyPath: path] = texts }
        }
    }
}
