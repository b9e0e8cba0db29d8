// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
]

// A release for Linux links Swift's own libraries statically. It then starts in half the time, since the loader need
// not resolve some 40,000 symbols, and runs without an installed Swift. LLD merges equal functions and packs
// relocations (which requires glibc 2.36), which saves 6 MB. Nothing uses exported symbols.
let release: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-static-stdlib", "-use-ld=lld", "-Xlinker", "--start-group", "-lCoreFoundation", "-l_FoundationCShims",
            "-l_FoundationCollections", "-l_FoundationICU", "-Xlinker", "--end-group", "-Xlinker", "--icf=safe",
            "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs", "-Xlinker", "--no-export-dynamic",
        ], .when(platforms: [.linux], configuration: .release))
]

let package = Package(
    name: "pipectl",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "pipectl", targets: ["pipectl"]),
        // Runs steps on another machine.
        .executable(name: "pipectl-agent", targets: ["pipectl-agent"]),
        // Dynamic, since every compiled workflow links it and must not contain a copy.
        .library(name: "Pipeline", type: .dynamic, targets: ["Pipeline"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        // Without traits it only resolves layers of values and names of variables; the module Settings reads the file
        // itself.
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
        .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    ],
    targets: [
        .systemLibrary(
            name: "CGit", pkgConfig: "libgit2", providers: [.apt(["libgit2-dev"]), .brew(["libgit2"])]),
        .systemLibrary(name: "CLinux"),
        .systemLibrary(
            name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
        .target(name: "CLooseObjects", dependencies: ["CGit"], cSettings: [.treatAllWarnings(as: .error)]),
        .target(
            name: "Git",
            dependencies: [
                "CGit", "CLooseObjects", "Concurrency", .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: settings),
        .target(name: "LandedChanges", dependencies: ["Git"], swiftSettings: settings),
        .target(
            name: "Pipeline",
            // With library evolution a compiler that imports this module need not load the modules that it uses. A
            // change of the workflows then compiles in half the time.
            swiftSettings: settings + [.unsafeFlags(["-enable-library-evolution"])],
            // Each load of a workflow computes a digest of this library, half of which would be debug information. Without
            // a name, the linker writes the path of the library into it.
            linkerSettings: [
                .unsafeFlags(
                    ["-Xlinker", "--strip-debug", "-Xlinker", "-soname=libPipeline.so"],
                    .when(platforms: [.linux], configuration: .release))
            ]),
        .target(name: "PlanRules", dependencies: ["Pipeline"], swiftSettings: settings),
        .target(name: "TestIntegrity", dependencies: ["Pipeline"], swiftSettings: settings),
        // The only target that links swift-syntax. It reads untrusted text, so it runs in a process of its own.
        .executableTarget(
            name: "swift-reader",
            dependencies: [
                "TestIntegrity",
                .product(name: "SwiftParser", package: "swift-syntax"),
                .product(name: "SwiftSyntax", package: "swift-syntax"),
            ],
            swiftSettings: settings, linkerSettings: release),
        .executableTarget(
            name: "stepinit", cSettings: [.treatAllWarnings(as: .error)],
            // Plain C: the Swift runtime, which Swift's linker would add, triples the time of a start. stepinit is
            // started for every run, and each of its supervisors is a fork of it.
            linkerSettings: [
                .unsafeFlags(["-nostartfiles", "-static-executable"], .when(platforms: [.linux]))
            ]),
        .target(
            name: "Results", dependencies: ["Pipeline", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: settings),
        .target(name: "TerminalText", swiftSettings: settings),
        .target(name: "Masking", swiftSettings: settings),
        .target(
            name: "Concurrency", dependencies: [.product(name: "SystemPackage", package: "swift-system")],
            swiftSettings: settings),
        .target(name: "ForeignText", dependencies: ["CLinux"], swiftSettings: settings),
        .target(name: "TestReports", dependencies: ["ForeignText", "Results"], swiftSettings: settings),
        .target(
            name: "Diagnostics",
            dependencies: ["ForeignText", "Pipeline", "Results", "TerminalText", "TestReports"],
            swiftSettings: settings),
        .target(name: "Reports", dependencies: ["Pipeline", "Results", "TerminalText"], swiftSettings: settings),
        .target(
            name: "Sandbox",
            dependencies: [
                "CLinux", "Concurrency", "Pipeline", "Results", "TerminalText",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .target(
            name: "WorkflowPrograms",
            dependencies: [
                "Concurrency", "Pipeline", "PlanRules", "Results", "Sandbox",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: settings),
        .target(
            name: "ProofKeys", dependencies: ["Diagnostics", "ForeignText", "Pipeline", "Results", "Sandbox"],
            swiftSettings: settings),
        .target(
            name: "ReviewAnswers", dependencies: ["Pipeline", "ProofKeys", "Results"], swiftSettings: settings),
        .target(name: "PlanOrder", dependencies: ["Pipeline", "Results"], swiftSettings: settings),
        .target(name: "StepSlots", dependencies: ["Concurrency", "Pipeline", "Sandbox"], swiftSettings: settings),
        .target(
            name: "StepLogs",
            dependencies: [
                "Concurrency", "Masking", "Results", "TerminalText",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .target(
            name: "Engine",
            dependencies: [
                "Concurrency", "Diagnostics", "Masking", "Pipeline", "PlanOrder", "ProofKeys", "Results",
                "ReviewAnswers", "Sandbox", "StepLogs", "StepSlots", "TerminalText", "TestReports",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .target(
            name: "Store",
            dependencies: ["Concurrency", "Git", "Pipeline", "Results", .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: settings),
        .target(
            name: "Archive",
            dependencies: [
                "Concurrency", "Git", "Pipeline", "Results", "Store", "TerminalText",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: settings),
        .target(
            name: "Layers",
            dependencies: [
                "CLinux", "Concurrency", "Engine", "Git", "Pipeline", "Results", "Sandbox", "StateFiles", "SystemCalls",
                "TerminalText",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .target(
            name: "Workspaces",
            dependencies: [
                "Archive", "Concurrency", "Control", "DaemonLog", "Engine", "Git", "Layers", "MachinePool", "Pipeline",
                "Results", "Sandbox", "StateFiles", "Store", "SystemCalls", "TerminalText", "WorkflowPrograms",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .target(name: "CAllocator", cSettings: [.treatAllWarnings(as: .error)]),
        .target(
            name: "Watching",
            dependencies: [
                "Archive", "Concurrency", "Control", "DaemonLog", "Diagnostics", "Engine", "Git", "LandedChanges",
                "Pipeline", "PlanRules", "RefHints", "Results", "Sandbox", "StateFiles", "Store", "SystemCalls",
                "TerminalText", "WorkflowPrograms", "Workspaces",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .target(
            name: "Preparing",
            dependencies: [
                "Layers",
                "MachinePool",
                "Archive", "Concurrency", "Control", "DaemonLog", "Diagnostics", "Engine", "ForgeConnection", "Forges",
                "Listening", "Git",
                "Pipeline", "PlanOrder", "PlanRules", "ProofKeys", "Reports", "Results", "Sandbox", "Settings",
                "StateFiles", "Store", "Tasks", "TerminalText", "TestIntegrity", "Watching",
                "WorkflowPrograms", "Workspaces",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .target(
            name: "Evaluating",
            dependencies: [
                "Archive", "Control", "DaemonLog", "Diagnostics", "Engine", "Git", "Pipeline", "Preparing", "Reports",
                "Results", "Sandbox", "StateFiles", "Store", "Tasks", "TerminalText", "TestIntegrity", "Watching",
                "WorkflowPrograms", "Workspaces",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .target(
            name: "Running",
            dependencies: [
                "Layers",
                "MachinePool",
                "AgentWork", "Archive", "Concurrency", "Control", "DaemonLog", "Delivery", "Engine", "Evaluating",
                "Git", "MCP", "Masking", "Pipeline", "Placing", "Preparing", "ProofKeys", "Reports", "Results",
                "Sandbox",
                "Secrets", "StateFiles", "StepLogs", "StepSlots", "Store", "Tasks", "TerminalText", "TestIntegrity",
                "TestShards",
                "Watching",
                "WorkflowPrograms", "Workspaces",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .target(
            name: "Landing",
            dependencies: [
                "Concurrency", "Control", "DaemonLog", "Git", "LandedChanges", "MergeQueue", "Pipeline", "Results",
                "Running", "Sandbox", "Store", "TerminalText", "Watching", "WorkflowPrograms",
            ], swiftSettings: settings),
        .target(
            name: "TaskText", dependencies: ["Pipeline", "Results", "TerminalText"], swiftSettings: settings),
        .target(
            name: "PageMarkup", dependencies: ["Reports", "Results", "TerminalText"], swiftSettings: settings),
        .target(
            name: "TaskPages",
            dependencies: ["PageMarkup", "Pipeline", "Reports", "Results", "Tasks", "TaskText"],
            swiftSettings: settings),
        .target(
            name: "Pages",
            dependencies: [
                "Concurrency", "Control", "DaemonLog", "Diagnostics", "ForeignText", "PageMarkup",
                "Pipeline", "Reports", "Results", "Store", "TaskPages", "TaskText", "TerminalText",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], swiftSettings: settings),
        .target(
            name: "CrashReports",
            dependencies: ["ForeignText", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: settings),
        .target(
            name: "Tasks",
            dependencies: [
                "CrashReports", "ForeignText", "Pipeline", "Results", "TerminalText",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: settings),
        .target(
            name: "TaskService",
            dependencies: [
                "AppStore", "Archive", "ChangeOpening", "Concurrency", "Control", "CrashReports", "DaemonLog",
                "Delivery", "Evaluating",
                "ForgeConnection", "Forges", "Git", "Landing", "Listening", "Pipeline", "Preparing", "Reports",
                "Results", "Running", "Sandbox", "StateFiles", "Store", "Tasks", "TerminalText", "TestIntegrity",
                "Watching", "WorkflowPrograms", "Workspaces",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: settings),
        .target(
            name: "Daemon",
            dependencies: [
                "AppStore", "Archive", "CAllocator", "Concurrency", "CrashReports", "Control", "DaemonLog", "Delivery",
                "Diagnostics", "TaskService", "Tasks",
                "Engine",
                "Evaluating", "ForgeConnection", "Forges", "Listening", "Git", "LandedChanges", "Landing",
                "Layers", "MachineList", "MachinePool", "MergeQueue",
                "Pages", "Pipeline", "Placing", "Preparing", "ProofKeys",
                "Reports", "Results", "Running", "Sandbox", "Secrets", "Settings", "Signing", "StepLogs", "StepSlots",
                "StateFiles",
                "Store", "SystemCalls",
                "TerminalText",
                "Watching", "WorkflowPrograms", "Workspaces",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .target(name: "SystemCalls", swiftSettings: settings),
        .target(
            name: "MachineProtocol",
            dependencies: [
                "CZstd", "Concurrency", "Engine", "Pipeline", "Sandbox", "SystemCalls",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .target(
            name: "MachineAgent",
            dependencies: [
                "Concurrency", "Engine", "Git", "Layers", "MachineProtocol", "Pipeline", "Results", "Sandbox",
                "StateFiles", "SystemCalls",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .target(
            name: "Machines",
            dependencies: [
                "Layers",
                "MachinePool",
                "Concurrency", "Engine", "Git", "MachineProtocol", "Pipeline", "Results", "Sandbox", "SystemCalls",
                "Workspaces",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "pipectl-agent", dependencies: ["MachineAgent"], swiftSettings: settings, linkerSettings: release),
        .target(
            name: "MachineLinks",
            dependencies: [
                "Concurrency", "MachinePool", "Machines", "Results", "Sandbox", "SystemCalls", "TerminalText",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: settings),
        .target(
            name: "AgentWork",
            dependencies: [
                "Concurrency", "Engine", "MCP", "Pipeline", "Results", "Sandbox", "SystemCalls", "TerminalText",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .target(
            name: "StateFiles",
            dependencies: ["SystemCalls", .product(name: "SystemPackage", package: "swift-system")],
            swiftSettings: settings),
        .target(name: "RefHints", dependencies: ["CLinux", "SystemCalls"], swiftSettings: settings),
        .target(
            name: "Secrets",
            dependencies: [
                "Engine", "Masking", "Pipeline", "StateFiles", "TerminalText",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .target(
            name: "Control", dependencies: ["Pipeline", "Results", "Settings", "SystemCalls"], swiftSettings: settings),
        .target(
            name: "Settings",
            dependencies: [
                "Results", "SystemCalls", .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .target(
            name: "DaemonSettings",
            dependencies: [
                "DaemonLog", "ForgeConnection", "Forges", "Listening", "Git", "Pipeline", "Preparing", "Settings",
                "StateFiles",
                "Watching",
            ],
            swiftSettings: settings),
        .target(
            name: "DaemonLog",
            dependencies: ["Results", "TerminalText", .product(name: "Logging", package: "swift-log")],
            swiftSettings: settings),
        .target(
            name: "Listening",
            dependencies: [
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
        .target(
            name: "ForgeConnection",
            dependencies: [
                "Concurrency",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .target(
            name: "ChangeOpening",
            dependencies: [
                "ForgeConnection", "Reports", "Store", "TerminalText",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
            ],
            swiftSettings: settings),
        .target(
            name: "Forges",
            dependencies: [
                "ChangeOpening", "Concurrency", "DaemonLog", "Diagnostics", "ForgeConnection", "Listening", "Pipeline",
                "Reports",
                "Results", "Store",
                "TerminalText",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .target(
            name: "Signing",
            dependencies: [
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            swiftSettings: settings),
        .target(
            name: "Delivery",
            dependencies: [
                "Concurrency", "Engine", "ForgeConnection", "PageMarkup", "Pipeline", "Reports", "Results", "Sandbox",
                "Signing", "Store", "SystemCalls",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .target(
            name: "AppStore",
            dependencies: [
                "Concurrency", "Delivery", "Pipeline", "Results",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .target(name: "MCP", swiftSettings: settings),
        .target(name: "MergeQueue", swiftSettings: settings),
        .target(name: "MachinePool", dependencies: ["Pipeline"], swiftSettings: settings),
        // What travels to another machine: `script/bench machines`.
        .executableTarget(
            name: "machine-transfer",
            dependencies: ["Concurrency", "Git", "MachineProtocol", "Machines", "Results", "Sandbox"],
            swiftSettings: settings),
        .target(
            name: "TestShards",
            dependencies: [
                "Concurrency", "Engine", "MachinePool", "Pipeline", "Results", "Sandbox",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .target(
            name: "MachineList",
            dependencies: [
                "Control", "MachineLinks", "MachinePool", "MachineProtocol", "Machines", "Pipeline", "StateFiles",
            ],
            swiftSettings: settings),
        .target(
            name: "Spreading",
            dependencies: [
                "Concurrency", "Engine", "MachinePool", "Masking", "Pipeline", "PlanRules", "Results", "Sandbox",
                "Workspaces", .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .target(
            name: "Placing",
            dependencies: [
                "Concurrency", "Control", "DaemonLog", "Engine", "MachineLinks", "MachineList", "MachinePool",
                "Machines",
                "Pipeline", "PlanRules", "Results", "Sandbox", "Spreading", "StateFiles", "Workspaces",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        // Drives the choice of machines with made-up runs: `script/bench machines`.
        .executableTarget(name: "pool-simulation", dependencies: ["MachinePool"], swiftSettings: settings),
        .target(
            name: "ProjectSetup",
            dependencies: [
                "Engine", "Git", "Pipeline", "Results", "Sandbox", "SystemCalls", "TerminalText", "WorkflowPrograms",
            ],
            swiftSettings: settings),
        .target(
            name: "Client",
            dependencies: [
                "Layers",
                "Archive", "Control", "DaemonLog", "Engine", "ForgeConnection", "Forges", "Git", "MachineList",
                "Pipeline", "PlanRules",
                "Preparing",
                "Reports", "Results", "Sandbox", "Signing", "StateFiles", "StepLogs", "Store", "SystemCalls",
                "TaskText",
                "TerminalText",
                "Watching",
                "WorkflowPrograms",
                "Workspaces",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .target(
            name: "AgentTools",
            dependencies: [
                "Archive", "Client", "Control", "Engine", "MCP", "Reports", "Results", "Sandbox",
                "StateFiles", "Store", "TaskText", "TerminalText", "WorkflowPrograms",
            ],
            swiftSettings: settings),
        .target(
            name: "CommandHelp",
            dependencies: [
                "Results", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "pipectl",
            dependencies: [
                "Layers",
                "AgentTools", "Archive", "Client", "CommandHelp", "Control", "Daemon", "DaemonLog", "DaemonSettings",
                "Delivery",
                "Engine",
                "Evaluating", "ForgeConnection", "Forges", "Git", "LandedChanges", "MachineLinks", "MachineList",
                "MachinePool", "MCP", "Pipeline", "PlanRules",
                "Preparing",
                "ProjectSetup", "Reports", "Results", "Sandbox", "Secrets", "Signing", "Settings", "StateFiles",
                "Store",
                "SystemCalls", "Tasks", "TaskText", "TerminalText", "TestIntegrity", "TestReports", "Watching",
                "WorkflowPrograms",
                "Workspaces",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings, linkerSettings: release),
        // Helpers for tests of every room; it depends on no room.
        .target(name: "TestBasics", path: "Tests/TestBasics", swiftSettings: settings),
        // Helpers for tests that depend on rooms: a repository, a state folder, a daemon of the built binary, samples.
        .target(
            name: "TestSupport",
            dependencies: [
                "DaemonLog", "Git", "Pipeline", "Reports", "Results", "Store", "TestBasics",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: "Tests/Support", swiftSettings: settings),
        // A forge on loopback that answers as a test wants.
        .target(
            name: "TestForge",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Tests/TestForge", swiftSettings: settings),
        .testTarget(
            name: "CrashReportsTests",
            dependencies: ["CrashReports", "TestBasics"], swiftSettings: settings),
        .testTarget(
            name: "TaskServiceTests",
            dependencies: [
                "AppStore", "Archive", "Control", "CrashReports", "Delivery", "ForgeConnection", "Forges", "Pipeline",
                "Preparing", "Results", "Running", "RunSamples", "Store", "Tasks", "TaskService", "TestBasics",
                "Watching", .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ], swiftSettings: settings),
        .testTarget(
            name: "TasksTests",
            dependencies: ["CrashReports", "Pipeline", "Results", "Tasks", "TestBasics"], swiftSettings: settings),
        .testTarget(
            name: "ForgesTests",
            dependencies: [
                "ChangeOpening", "Diagnostics", "ForgeConnection", "Forges", "Listening", "Pipeline", "Reports",
                "Results", "Store",
                "TestBasics",
                "TestForge",
                "TestSupport",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        // Publishes one release, so that a test can kill it.
        .executableTarget(
            name: "publish-once",
            dependencies: ["Delivery", "Results", "ForgeConnection", "Pipeline"], path: "Tests/PublishOnce",
            swiftSettings: settings),
        .testTarget(
            name: "DeliveryTests",
            dependencies: [
                "Delivery", "Engine", "ForgeConnection", "PageMarkup", "Pipeline", "Results", "Signing", "Store",
                "TestBasics", "TestForge", "publish-once",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AppStoreTests",
            dependencies: [
                "AppStore", "Delivery", "Pipeline", "Results", "TestBasics",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "DaemonLogTests", dependencies: ["DaemonLog", .product(name: "Logging", package: "swift-log")],
            swiftSettings: settings),
        .testTarget(
            name: "AgentWorkTests",
            dependencies: [
                "AgentWork", "Concurrency", "Engine", "MCP", "Pipeline", "Results", "Sandbox", "StepSlots", "stepinit",
                "SystemCalls",
                "TestBasics", "TestSupport", .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .testTarget(name: "ConcurrencyTests", dependencies: ["Concurrency", "TestBasics"], swiftSettings: settings),
        .testTarget(name: "MCPTests", dependencies: ["MCP"], swiftSettings: settings),
        .testTarget(
            name: "SigningTests",
            dependencies: [
                "Signing", "TestBasics", .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ], swiftSettings: settings),
        .testTarget(
            name: "MachineListTests",
            dependencies: ["MachineLinks", "MachineList", "MachinePool", "Pipeline", "StateFiles", "TestBasics"],
            swiftSettings: settings),
        .testTarget(
            name: "PlacingTests",
            dependencies: [
                "Concurrency", "Control", "Engine", "Git", "MachineLinks", "MachineList", "MachinePool", "Machines",
                "Pipeline", "Placing",
                "Results", "StateFiles", "TestBasics", "Workspaces", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "SpreadingTests",
            dependencies: [
                "Concurrency", "Control", "Engine", "Git", "MachineList", "MachinePool", "Machines", "Masking",
                "Pipeline", "pipectl-agent", "Placing", "PlanRules", "Results", "Sandbox", "Spreading", "StateFiles",
                "stepinit", "StepSlots",
                "TestBasics", "TestShards", "TestSupport", "Workspaces",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "MachinePoolTests", dependencies: ["MachinePool", "Pipeline"], swiftSettings: settings),
        .testTarget(
            name: "TestShardsTests",
            dependencies: [
                "Concurrency", "Engine", "Pipeline", "PlanRules", "Preparing", "Results", "stepinit", "StepSlots",
                "TestBasics", "TestShards", "TestSupport", .product(name: "SystemPackage", package: "swift-system"),
            ], swiftSettings: settings),
        .testTarget(name: "MergeQueueTests", dependencies: ["MergeQueue", "TestBasics"], swiftSettings: settings),
        .testTarget(
            name: "SettingsTests",
            dependencies: [
                "Settings", "SystemCalls", "TestBasics", "TestSupport",
            ], swiftSettings: settings),
        .testTarget(
            name: "DaemonSettingsTests",
            dependencies: [
                "DaemonSettings", "Git", "pipectl", "Pipeline", "Preparing", "Settings", "StateFiles", "TestBasics",
                "TestSupport", "Watching",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: settings),
        // A folder with repositories that the command `git` makes.
        .target(
            name: "GitFixture", dependencies: ["Git", "TestBasics"], path: "Tests/GitFixture", swiftSettings: settings),
        .testTarget(
            name: "GitTests", dependencies: ["CGit", "Git", "GitFixture", "TestBasics"], swiftSettings: settings),
        .testTarget(
            name: "LandedChangesTests", dependencies: ["Git", "GitFixture", "LandedChanges"], swiftSettings: settings),
        .testTarget(
            name: "PipelineTests",
            dependencies: [
                "Pipeline", "PlanRules", "TestBasics",
            ], swiftSettings: settings),
        .testTarget(
            name: "TestIntegrityTests", dependencies: ["Pipeline", "swift-reader", "TestIntegrity"],
            swiftSettings: settings),
        .testTarget(name: "ResultsTests", dependencies: ["Pipeline", "Results"], swiftSettings: settings),
        .testTarget(name: "TerminalTextTests", dependencies: ["TerminalText", "TestBasics"], swiftSettings: settings),
        .testTarget(name: "MaskingTests", dependencies: ["Masking", "TestBasics"], swiftSettings: settings),
        .testTarget(
            name: "TestReportsTests",
            dependencies: [
                "Diagnostics", "Results", "TestBasics", "TestReports",
            ], exclude: ["Fixtures"],
            swiftSettings: settings),
        .testTarget(
            name: "DiagnosticsTests",
            dependencies: [
                "Diagnostics", "Pipeline", "PlanRules", "Results",
            ],
            exclude: ["Fixtures"], swiftSettings: settings),
        .testTarget(
            name: "ReportsTests", dependencies: ["Pipeline", "Reports", "Results", "TerminalText", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "SandboxTests",
            dependencies: [
                "Concurrency", "Pipeline", "Sandbox", "stepinit", "TestBasics", "TestSupport",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "WorkflowProgramsTests",
            dependencies: [
                "Engine", "Pipeline", "PlanRules", "ProjectSetup", "Sandbox", "TestBasics", "WorkflowPrograms",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ProofKeysTests", dependencies: ["Pipeline", "ProofKeys", "Results"],
            swiftSettings: settings),
        .testTarget(
            name: "PlanOrderTests", dependencies: ["Pipeline", "PlanOrder", "Results", "TestBasics", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "EngineTests",
            dependencies: [
                "Concurrency", "Engine", "Masking", "Pipeline", "PlanOrder", "ProofKeys", "Results", "Sandbox",
                "ReviewAnswers", "stepinit", "StepLogs", "StepSlots", "TestBasics", "TestSupport",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            exclude: ["Places/machine.py"], swiftSettings: settings),
        .testTarget(
            name: "MachinesTests",
            dependencies: [
                "Concurrency", "CZstd", "Engine", "Git", "Layers", "MachineAgent", "MachinePool", "MachineProtocol",
                "Machines",
                "Masking",
                "Pipeline", "pipectl-agent", "Results", "Sandbox", "stepinit", "StepSlots", "SystemCalls", "TestBasics",
                "TestSupport", "Workspaces",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "StoreTests",
            dependencies: [
                "Git", "Pipeline", "Results", "Store", "TestBasics", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ArchiveTests",
            dependencies: [
                "Archive", "Git", "Pipeline", "Results", "Store", "TestBasics", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            exclude: ["States"], swiftSettings: settings),
        .testTarget(
            name: "StateFilesTests",
            dependencies: [
                "Control", "StateFiles", "SystemCalls", "TestBasics", "TestSupport",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "RefHintsTests",
            dependencies: [
                "RefHints", "TestBasics", "TestSupport",
            ], swiftSettings: settings),
        .testTarget(
            name: "SecretsTests",
            dependencies: [
                "Engine", "Masking", "Pipeline", "Secrets", "StateFiles", "TestBasics", "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ControlTests", dependencies: ["Control", "Results", "SystemCalls", "TestBasics", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "LayersTests",
            dependencies: [
                "CLinux", "Concurrency", "Engine", "Git", "Layers", "Pipeline", "Results", "Sandbox", "StateFiles",
                "stepinit", "StepSlots", "SystemCalls", "TestBasics", "TestSupport", "WorkflowPrograms",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "WorkspacesTests",
            dependencies: [
                "Layers",
                "CLinux", "Concurrency", "DaemonLog", "Engine", "Git", "MachinePool", "Pipeline", "Results", "Sandbox",
                "StateFiles", "stepinit", "StepSlots", "Store", "SystemCalls", "TestBasics", "TestSupport",
                "WorkflowPrograms",
                "Workspaces",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        // Runs that tests of several rooms of the daemon start from.
        .target(
            name: "RunSamples",
            dependencies: [
                "Engine", "Evaluating", "Git", "Pipeline", "Preparing", "Results", "Store", "Watching",
                "WorkflowPrograms",
            ],
            path: "Tests/RunSamples", swiftSettings: settings),
        .testTarget(
            name: "WatchingTests",
            dependencies: [
                "Archive", "Control", "Engine", "Git", "LandedChanges", "Pipeline", "Results", "Sandbox", "stepinit",
                "Store", "TestBasics", "TestSupport", "Watching",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "PreparingTests",
            dependencies: [
                "Archive", "Engine", "Git", "Pipeline", "Preparing", "ProofKeys", "Results", "Sandbox", "stepinit",
                "Store", "Tasks", "TestBasics", "TestSupport", "Watching", "WorkflowPrograms", "Workspaces",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "EvaluatingTests",
            dependencies: [
                "Engine", "Evaluating", "Git", "Pipeline", "Preparing", "Reports", "Results", "RunSamples", "stepinit",
                "Store", "swift-reader", "TestBasics", "TestIntegrity", "TestSupport", "Watching", "WorkflowPrograms",
                "Workspaces",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "RunningTests",
            dependencies: [
                "AgentWork", "Archive", "Concurrency", "Control", "Delivery", "Engine", "Evaluating", "Git", "Masking",
                "MachineList", "Pipeline", "Placing", "Preparing", "ProofKeys", "Results", "Running", "RunSamples",
                "Sandbox", "Secrets",
                "StateFiles",
                "StepSlots", "stepinit", "Store", "Tasks", "TestBasics", "TestShards", "TestSupport", "Watching",
                "WorkflowPrograms",
                "Workspaces",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "DaemonTests",
            dependencies: [
                "Archive", "Control", "Daemon", "DaemonLog", "Delivery", "Engine", "ForgeConnection", "Forges", "Git",
                "Landing",
                "MachinePool", "MergeQueue",
                "Pipeline", "Preparing", "Results", "Running", "RunSamples", "Sandbox", "StateFiles", "stepinit",
                "Store", "TestBasics", "TestSupport", "Watching", "Workspaces",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "LandingTests",
            dependencies: [
                "Git", "Landing", "MergeQueue", "Pipeline", "Results", "Store", "TestBasics", "TestSupport",
                "Watching",
            ],
            swiftSettings: settings),
        .testTarget(name: "ForeignTextTests", dependencies: ["ForeignText"], swiftSettings: settings),
        .testTarget(
            name: "TaskTextTests", dependencies: ["Pipeline", "Results", "TaskText", "TerminalText"],
            swiftSettings: settings),
        .testTarget(
            name: "PagesTests",
            dependencies: [
                "Control", "PageMarkup", "Pages", "Pipeline", "Reports", "Results", "Store", "TestBasics",
                "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "Archive", "Control", "CrashReports", "DaemonSettings", "Diagnostics", "Engine", "Evaluating",
                "ForeignText", "Git",
                "MachineProtocol", "Masking", "MCP", "Pages",
                "Pipeline", "PlanOrder", "PlanRules", "Preparing", "ProjectSetup", "Reports", "Results", "Sandbox",
                "Settings", "Signing", "stepinit", "StepLogs", "Store", "swift-reader", "SystemCalls", "TerminalText",
                "TestBasics",
                "TestIntegrity", "Tasks",
                "TestReports", "TestShards", "TestSupport", "Watching", "WorkflowPrograms",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "MachineLinksTests",
            dependencies: [
                "Concurrency", "MachineLinks", "MachinePool", "Machines", "pipectl-agent", "Sandbox", "stepinit",
                "SystemCalls",
                "TestBasics", "TestSupport",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ProjectSetupTests",
            dependencies: [
                "ProjectSetup", "Sandbox", "SystemCalls", "TestBasics", "TestSupport",
            ], swiftSettings: settings),
        .testTarget(
            name: "pipectlTests",
            dependencies: [
                "Client", "CommandHelp", "Control", "Delivery", "Git", "pipectl", "Pipeline", "Preparing", "Reports",
                "Results",
                "Settings", "Signing",
                "StateFiles", "TestBasics", "TestSupport", "Watching",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "DaemonLog", "pipectl", "pipectl-agent", "Pipeline", "Reports", "Results", "Settings", "stepinit",
                "Store", "swift-reader", "TestBasics", "TestForge", "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            exclude: ["Escape/probe.c"], swiftSettings: settings),
        .testTarget(
            name: "FaultTests",
            dependencies: [
                "DaemonLog", "pipectl", "Pipeline", "Reports", "Results", "stepinit", "TestBasics", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            exclude: ["Shims"], swiftSettings: settings),
    ]
)

// `script/test AREA` names the test targets that it needs. The package then has only these and their dependencies: all
// tests are linked into one program, and a build must not compile the others for it.
if let wanted = Context.environment["PIPECTL_TESTS"]?.split(separator: " ").map(String.init) {
    var needed: Set<String> = []
    var left = wanted
    while let name = left.popLast() {
        guard needed.insert(name).inserted else { continue }
        for target in package.targets where target.name == name {
            for case .byNameItem(let other, _) in target.dependencies { left.append(other) }
        }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products.removeAll { !needed.contains($0.name) }
}
