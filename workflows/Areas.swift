// `script/rooms --areas workflows/Areas.swift` writes this file, and `script/rooms` checks it.

/// The areas of the tests, each with the files that decide its result besides Package.swift.
let areas = [
    Area(
        "agent-work", "Sources/AgentWork", "Sources/CGit", "Sources/CLinux", "Sources/CLooseObjects",
        "Sources/Concurrency", "Sources/DaemonLog", "Sources/Diagnostics", "Sources/Engine", "Sources/ForeignText",
        "Sources/Git", "Sources/MCP", "Sources/Masking", "Sources/Pipeline", "Sources/PlanOrder", "Sources/ProofKeys",
        "Sources/Reports", "Sources/Results", "Sources/ReviewAnswers", "Sources/Sandbox", "Sources/StepLogs",
        "Sources/StepSlots", "Sources/Store", "Sources/SystemCalls", "Sources/TerminalText", "Sources/TestReports",
        "Sources/stepinit", "Tests/AgentWorkTests", "Tests/Support", "Tests/TestBasics"
    ),
    Area(
        "app-store", "Sources/AppStore", "Sources/CGit", "Sources/CLinux", "Sources/CLooseObjects",
        "Sources/Concurrency", "Sources/Delivery", "Sources/Diagnostics", "Sources/Engine", "Sources/ForeignText",
        "Sources/ForgeConnection", "Sources/Git", "Sources/Masking", "Sources/PageMarkup", "Sources/Pipeline",
        "Sources/PlanOrder", "Sources/ProofKeys", "Sources/Reports", "Sources/Results", "Sources/ReviewAnswers",
        "Sources/Sandbox", "Sources/Signing", "Sources/StepLogs", "Sources/StepSlots", "Sources/Store",
        "Sources/SystemCalls", "Sources/TerminalText", "Sources/TestReports", "Tests/AppStoreTests",
        "Tests/TestBasics"
    ),
    Area(
        "archive", "Sources/Archive", "Sources/CGit", "Sources/CLooseObjects", "Sources/Concurrency",
        "Sources/DaemonLog", "Sources/Git", "Sources/Pipeline", "Sources/Reports", "Sources/Results", "Sources/Store",
        "Sources/TerminalText", "Tests/ArchiveTests", "Tests/Support", "Tests/TestBasics"
    ),
    Area("concurrency", "Sources/Concurrency", "Tests/ConcurrencyTests", "Tests/TestBasics"),
    Area(
        "control", "Sources/CGit", "Sources/CLooseObjects", "Sources/Concurrency", "Sources/Control",
        "Sources/DaemonLog", "Sources/Git", "Sources/Pipeline", "Sources/Reports", "Sources/Results",
        "Sources/Settings", "Sources/Store", "Sources/SystemCalls", "Sources/TerminalText", "Tests/ControlTests",
        "Tests/Support", "Tests/TestBasics"
    ),
    Area(
        "crash-reports", "Sources/CLinux", "Sources/CrashReports", "Sources/ForeignText", "Tests/CrashReportsTests",
        "Tests/TestBasics"
    ),
    Area(
        "daemon-log", "Sources/DaemonLog", "Sources/Pipeline", "Sources/Results", "Sources/TerminalText",
        "Tests/DaemonLogTests", "docs"
    ),
    Area(
        "daemon-settings", "Sources/AgentTools", "Sources/AgentWork", "Sources/AppStore", "Sources/Archive",
        "Sources/CAllocator", "Sources/CGit", "Sources/CLinux", "Sources/CLooseObjects", "Sources/CZstd",
        "Sources/ChangeOpening", "Sources/Client", "Sources/CommandHelp", "Sources/Concurrency", "Sources/Control",
        "Sources/CrashReports", "Sources/Daemon", "Sources/DaemonLog", "Sources/DaemonSettings", "Sources/Delivery",
        "Sources/Diagnostics", "Sources/Engine", "Sources/Evaluating", "Sources/ForeignText",
        "Sources/ForgeConnection", "Sources/Forges", "Sources/Git", "Sources/LandedChanges", "Sources/Landing",
        "Sources/Layers", "Sources/Listening", "Sources/MCP", "Sources/MachineLinks", "Sources/MachineList",
        "Sources/MachinePool", "Sources/MachineProtocol", "Sources/Machines", "Sources/Masking", "Sources/MergeQueue",
        "Sources/PageMarkup", "Sources/Pages", "Sources/Pipeline", "Sources/Placing", "Sources/PlanOrder",
        "Sources/PlanRules", "Sources/Preparing", "Sources/ProjectSetup", "Sources/ProofKeys", "Sources/RefHints",
        "Sources/Reports", "Sources/Results", "Sources/ReviewAnswers", "Sources/Running", "Sources/Sandbox",
        "Sources/Secrets", "Sources/Settings", "Sources/Signing", "Sources/Spreading", "Sources/StateFiles",
        "Sources/StepLogs", "Sources/StepSlots", "Sources/Store", "Sources/SystemCalls", "Sources/TaskPages",
        "Sources/TaskService", "Sources/TaskText", "Sources/Tasks", "Sources/TerminalText", "Sources/TestIntegrity",
        "Sources/TestReports", "Sources/TestShards", "Sources/Watching", "Sources/WorkflowPrograms",
        "Sources/Workspaces", "Sources/pipectl", "Tests/DaemonSettingsTests", "Tests/Support", "Tests/TestBasics",
        "docs"
    ),
    Area(
        "daemon", "Sources/AgentWork", "Sources/AppStore", "Sources/Archive", "Sources/CAllocator", "Sources/CGit",
        "Sources/CLinux", "Sources/CLooseObjects", "Sources/CZstd", "Sources/ChangeOpening", "Sources/Concurrency",
        "Sources/Control", "Sources/CrashReports", "Sources/Daemon", "Sources/DaemonLog", "Sources/Delivery",
        "Sources/Diagnostics", "Sources/Engine", "Sources/Evaluating", "Sources/ForeignText",
        "Sources/ForgeConnection", "Sources/Forges", "Sources/Git", "Sources/LandedChanges", "Sources/Landing",
        "Sources/Layers", "Sources/Listening", "Sources/MCP", "Sources/MachineLinks", "Sources/MachineList",
        "Sources/MachinePool", "Sources/MachineProtocol", "Sources/Machines", "Sources/Masking", "Sources/MergeQueue",
        "Sources/PageMarkup", "Sources/Pages", "Sources/Pipeline", "Sources/Placing", "Sources/PlanOrder",
        "Sources/PlanRules", "Sources/Preparing", "Sources/ProofKeys", "Sources/RefHints", "Sources/Reports",
        "Sources/Results", "Sources/ReviewAnswers", "Sources/Running", "Sources/Sandbox", "Sources/Secrets",
        "Sources/Settings", "Sources/Signing", "Sources/Spreading", "Sources/StateFiles", "Sources/StepLogs",
        "Sources/StepSlots", "Sources/Store", "Sources/SystemCalls", "Sources/TaskPages", "Sources/TaskService",
        "Sources/TaskText", "Sources/Tasks", "Sources/TerminalText", "Sources/TestIntegrity", "Sources/TestReports",
        "Sources/TestShards", "Sources/Watching", "Sources/WorkflowPrograms", "Sources/Workspaces", "Sources/stepinit",
        "Tests/DaemonTests", "Tests/RunSamples", "Tests/Support", "Tests/TestBasics"
    ),
    Area(
        "delivery", "Sources/CGit", "Sources/CLinux", "Sources/CLooseObjects", "Sources/Concurrency",
        "Sources/Delivery", "Sources/Diagnostics", "Sources/Engine", "Sources/ForeignText", "Sources/ForgeConnection",
        "Sources/Git", "Sources/Masking", "Sources/PageMarkup", "Sources/Pipeline", "Sources/PlanOrder",
        "Sources/ProofKeys", "Sources/Reports", "Sources/Results", "Sources/ReviewAnswers", "Sources/Sandbox",
        "Sources/Signing", "Sources/StepLogs", "Sources/StepSlots", "Sources/Store", "Sources/SystemCalls",
        "Sources/TerminalText", "Sources/TestReports", "Tests/DeliveryTests", "Tests/PublishOnce", "Tests/TestBasics",
        "Tests/TestForge"
    ),
    Area(
        "diagnostics", "Sources/CLinux", "Sources/Diagnostics", "Sources/ForeignText", "Sources/Pipeline",
        "Sources/PlanRules", "Sources/Results", "Sources/TerminalText", "Sources/TestReports",
        "Tests/DiagnosticsTests"
    ),
    Area(
        "end-to-end", "Sources/AgentTools", "Sources/AgentWork", "Sources/AppStore", "Sources/Archive",
        "Sources/CAllocator", "Sources/CGit", "Sources/CLinux", "Sources/CLooseObjects", "Sources/CZstd",
        "Sources/ChangeOpening", "Sources/Client", "Sources/CommandHelp", "Sources/Concurrency", "Sources/Control",
        "Sources/CrashReports", "Sources/Daemon", "Sources/DaemonLog", "Sources/DaemonSettings", "Sources/Delivery",
        "Sources/Diagnostics", "Sources/Engine", "Sources/Evaluating", "Sources/ForeignText",
        "Sources/ForgeConnection", "Sources/Forges", "Sources/Git", "Sources/LandedChanges", "Sources/Landing",
        "Sources/Layers", "Sources/Listening", "Sources/MCP", "Sources/MachineAgent", "Sources/MachineLinks",
        "Sources/MachineList", "Sources/MachinePool", "Sources/MachineProtocol", "Sources/Machines", "Sources/Masking",
        "Sources/MergeQueue", "Sources/PageMarkup", "Sources/Pages", "Sources/Pipeline", "Sources/Placing",
        "Sources/PlanOrder", "Sources/PlanRules", "Sources/Preparing", "Sources/ProjectSetup", "Sources/ProofKeys",
        "Sources/RefHints", "Sources/Reports", "Sources/Results", "Sources/ReviewAnswers", "Sources/Running",
        "Sources/Sandbox", "Sources/Secrets", "Sources/Settings", "Sources/Signing", "Sources/Spreading",
        "Sources/StateFiles", "Sources/StepLogs", "Sources/StepSlots", "Sources/Store", "Sources/SystemCalls",
        "Sources/TaskPages", "Sources/TaskService", "Sources/TaskText", "Sources/Tasks", "Sources/TerminalText",
        "Sources/TestIntegrity", "Sources/TestReports", "Sources/TestShards", "Sources/Watching",
        "Sources/WorkflowPrograms", "Sources/Workspaces", "Sources/pipectl", "Sources/pipectl-agent",
        "Sources/stepinit", "Sources/swift-reader", "Tests/EndToEndTests", "Tests/Support", "Tests/TestBasics",
        "Tests/TestForge", "script", "workflows"
    ),
    Area(
        "engine", "Sources/CGit", "Sources/CLinux", "Sources/CLooseObjects", "Sources/Concurrency",
        "Sources/DaemonLog", "Sources/Diagnostics", "Sources/Engine", "Sources/ForeignText", "Sources/Git",
        "Sources/Masking", "Sources/Pipeline", "Sources/PlanOrder", "Sources/ProofKeys", "Sources/Reports",
        "Sources/Results", "Sources/ReviewAnswers", "Sources/Sandbox", "Sources/StepLogs", "Sources/StepSlots",
        "Sources/Store", "Sources/TerminalText", "Sources/TestReports", "Sources/stepinit", "Tests/EngineTests",
        "Tests/Support", "Tests/TestBasics"
    ),
    Area(
        "evaluating", "Sources/Archive", "Sources/CGit", "Sources/CLinux", "Sources/CLooseObjects",
        "Sources/ChangeOpening", "Sources/Concurrency", "Sources/Control", "Sources/CrashReports", "Sources/DaemonLog",
        "Sources/Diagnostics", "Sources/Engine", "Sources/Evaluating", "Sources/ForeignText",
        "Sources/ForgeConnection", "Sources/Forges", "Sources/Git", "Sources/LandedChanges", "Sources/Layers",
        "Sources/Listening", "Sources/MachinePool", "Sources/Masking", "Sources/Pipeline", "Sources/PlanOrder",
        "Sources/PlanRules", "Sources/Preparing", "Sources/ProofKeys", "Sources/RefHints", "Sources/Reports",
        "Sources/Results", "Sources/ReviewAnswers", "Sources/Sandbox", "Sources/Settings", "Sources/StateFiles",
        "Sources/StepLogs", "Sources/StepSlots", "Sources/Store", "Sources/SystemCalls", "Sources/Tasks",
        "Sources/TerminalText", "Sources/TestIntegrity", "Sources/TestReports", "Sources/Watching",
        "Sources/WorkflowPrograms", "Sources/Workspaces", "Sources/stepinit", "Sources/swift-reader",
        "Tests/EvaluatingTests", "Tests/RunSamples", "Tests/Support", "Tests/TestBasics"
    ),
    Area(
        "fault", "Sources/AgentTools", "Sources/AgentWork", "Sources/AppStore", "Sources/Archive",
        "Sources/CAllocator", "Sources/CGit", "Sources/CLinux", "Sources/CLooseObjects", "Sources/CZstd",
        "Sources/ChangeOpening", "Sources/Client", "Sources/CommandHelp", "Sources/Concurrency", "Sources/Control",
        "Sources/CrashReports", "Sources/Daemon", "Sources/DaemonLog", "Sources/DaemonSettings", "Sources/Delivery",
        "Sources/Diagnostics", "Sources/Engine", "Sources/Evaluating", "Sources/ForeignText",
        "Sources/ForgeConnection", "Sources/Forges", "Sources/Git", "Sources/LandedChanges", "Sources/Landing",
        "Sources/Layers", "Sources/Listening", "Sources/MCP", "Sources/MachineLinks", "Sources/MachineList",
        "Sources/MachinePool", "Sources/MachineProtocol", "Sources/Machines", "Sources/Masking", "Sources/MergeQueue",
        "Sources/PageMarkup", "Sources/Pages", "Sources/Pipeline", "Sources/Placing", "Sources/PlanOrder",
        "Sources/PlanRules", "Sources/Preparing", "Sources/ProjectSetup", "Sources/ProofKeys", "Sources/RefHints",
        "Sources/Reports", "Sources/Results", "Sources/ReviewAnswers", "Sources/Running", "Sources/Sandbox",
        "Sources/Secrets", "Sources/Settings", "Sources/Signing", "Sources/Spreading", "Sources/StateFiles",
        "Sources/StepLogs", "Sources/StepSlots", "Sources/Store", "Sources/SystemCalls", "Sources/TaskPages",
        "Sources/TaskService", "Sources/TaskText", "Sources/Tasks", "Sources/TerminalText", "Sources/TestIntegrity",
        "Sources/TestReports", "Sources/TestShards", "Sources/Watching", "Sources/WorkflowPrograms",
        "Sources/Workspaces", "Sources/pipectl", "Sources/stepinit", "Tests/FaultTests", "Tests/Support",
        "Tests/TestBasics"
    ),
    Area("foreign-text", "Sources/CLinux", "Sources/ForeignText", "Tests/ForeignTextTests"),
    Area(
        "forges", "Sources/CGit", "Sources/CLinux", "Sources/CLooseObjects", "Sources/ChangeOpening",
        "Sources/Concurrency", "Sources/DaemonLog", "Sources/Diagnostics", "Sources/ForeignText",
        "Sources/ForgeConnection", "Sources/Forges", "Sources/Git", "Sources/Listening", "Sources/Pipeline",
        "Sources/Reports", "Sources/Results", "Sources/Store", "Sources/TerminalText", "Sources/TestReports",
        "Tests/ForgesTests", "Tests/Support", "Tests/TestBasics", "Tests/TestForge"
    ),
    Area(
        "fuzz", "Sources/Archive", "Sources/CGit", "Sources/CLinux", "Sources/CLooseObjects", "Sources/CZstd",
        "Sources/ChangeOpening", "Sources/Concurrency", "Sources/Control", "Sources/CrashReports", "Sources/DaemonLog",
        "Sources/DaemonSettings", "Sources/Diagnostics", "Sources/Engine", "Sources/Evaluating", "Sources/ForeignText",
        "Sources/ForgeConnection", "Sources/Forges", "Sources/Git", "Sources/LandedChanges", "Sources/Layers",
        "Sources/Listening", "Sources/MCP", "Sources/MachinePool", "Sources/MachineProtocol", "Sources/Masking",
        "Sources/PageMarkup", "Sources/Pages", "Sources/Pipeline", "Sources/PlanOrder", "Sources/PlanRules",
        "Sources/Preparing", "Sources/ProjectSetup", "Sources/ProofKeys", "Sources/RefHints", "Sources/Reports",
        "Sources/Results", "Sources/ReviewAnswers", "Sources/Sandbox", "Sources/Settings", "Sources/Signing",
        "Sources/StateFiles", "Sources/StepLogs", "Sources/StepSlots", "Sources/Store", "Sources/SystemCalls",
        "Sources/TaskPages", "Sources/TaskText", "Sources/Tasks", "Sources/TerminalText", "Sources/TestIntegrity",
        "Sources/TestReports", "Sources/TestShards", "Sources/Watching", "Sources/WorkflowPrograms",
        "Sources/Workspaces", "Sources/stepinit", "Sources/swift-reader", "Tests/CrashReportsTests",
        "Tests/DiagnosticsTests", "Tests/FuzzTests", "Tests/MCPTests", "Tests/PipelineTests", "Tests/Support",
        "Tests/TestBasics", "Tests/TestIntegrityTests", "Tests/TestReportsTests", "script"
    ),
    Area(
        "git", "Sources/CGit", "Sources/CLooseObjects", "Sources/Concurrency", "Sources/Git", "Tests/GitFixture",
        "Tests/GitTests", "Tests/TestBasics"
    ),
    Area(
        "landed-changes", "Sources/CGit", "Sources/CLooseObjects", "Sources/Concurrency", "Sources/Git",
        "Sources/LandedChanges", "Tests/GitFixture", "Tests/LandedChangesTests", "Tests/TestBasics"
    ),
    Area(
        "landing", "Sources/AgentWork", "Sources/Archive", "Sources/CGit", "Sources/CLinux", "Sources/CLooseObjects",
        "Sources/CZstd", "Sources/ChangeOpening", "Sources/Concurrency", "Sources/Control", "Sources/CrashReports",
        "Sources/DaemonLog", "Sources/Delivery", "Sources/Diagnostics", "Sources/Engine", "Sources/Evaluating",
        "Sources/ForeignText", "Sources/ForgeConnection", "Sources/Forges", "Sources/Git", "Sources/LandedChanges",
        "Sources/Landing", "Sources/Layers", "Sources/Listening", "Sources/MCP", "Sources/MachineLinks",
        "Sources/MachineList", "Sources/MachinePool", "Sources/MachineProtocol", "Sources/Machines", "Sources/Masking",
        "Sources/MergeQueue", "Sources/PageMarkup", "Sources/Pipeline", "Sources/Placing", "Sources/PlanOrder",
        "Sources/PlanRules", "Sources/Preparing", "Sources/ProofKeys", "Sources/RefHints", "Sources/Reports",
        "Sources/Results", "Sources/ReviewAnswers", "Sources/Running", "Sources/Sandbox", "Sources/Secrets",
        "Sources/Settings", "Sources/Signing", "Sources/Spreading", "Sources/StateFiles", "Sources/StepLogs",
        "Sources/StepSlots", "Sources/Store", "Sources/SystemCalls", "Sources/Tasks", "Sources/TerminalText",
        "Sources/TestIntegrity", "Sources/TestReports", "Sources/TestShards", "Sources/Watching",
        "Sources/WorkflowPrograms", "Sources/Workspaces", "Tests/LandingTests", "Tests/Support", "Tests/TestBasics"
    ),
    Area(
        "layers", "Sources/CGit", "Sources/CLinux", "Sources/CLooseObjects", "Sources/Concurrency",
        "Sources/DaemonLog", "Sources/Diagnostics", "Sources/Engine", "Sources/ForeignText", "Sources/Git",
        "Sources/Layers", "Sources/Masking", "Sources/Pipeline", "Sources/PlanOrder", "Sources/PlanRules",
        "Sources/ProofKeys", "Sources/Reports", "Sources/Results", "Sources/ReviewAnswers", "Sources/Sandbox",
        "Sources/StateFiles", "Sources/StepLogs", "Sources/StepSlots", "Sources/Store", "Sources/SystemCalls",
        "Sources/TerminalText", "Sources/TestReports", "Sources/WorkflowPrograms", "Sources/stepinit",
        "Tests/LayersTests", "Tests/Support", "Tests/TestBasics"
    ),
    Area(
        "machine-links", "Sources/Archive", "Sources/CGit", "Sources/CLinux", "Sources/CLooseObjects", "Sources/CZstd",
        "Sources/Concurrency", "Sources/Control", "Sources/DaemonLog", "Sources/Diagnostics", "Sources/Engine",
        "Sources/ForeignText", "Sources/Git", "Sources/Layers", "Sources/MachineAgent", "Sources/MachineLinks",
        "Sources/MachinePool", "Sources/MachineProtocol", "Sources/Machines", "Sources/Masking", "Sources/Pipeline",
        "Sources/PlanOrder", "Sources/PlanRules", "Sources/ProofKeys", "Sources/Reports", "Sources/Results",
        "Sources/ReviewAnswers", "Sources/Sandbox", "Sources/Settings", "Sources/StateFiles", "Sources/StepLogs",
        "Sources/StepSlots", "Sources/Store", "Sources/SystemCalls", "Sources/TerminalText", "Sources/TestReports",
        "Sources/WorkflowPrograms", "Sources/Workspaces", "Sources/pipectl-agent", "Sources/stepinit",
        "Tests/MachineLinksTests", "Tests/Support", "Tests/TestBasics", "script"
    ),
    Area(
        "machine-list", "Sources/Archive", "Sources/CGit", "Sources/CLinux", "Sources/CLooseObjects", "Sources/CZstd",
        "Sources/Concurrency", "Sources/Control", "Sources/DaemonLog", "Sources/Diagnostics", "Sources/Engine",
        "Sources/ForeignText", "Sources/Git", "Sources/Layers", "Sources/MachineLinks", "Sources/MachineList",
        "Sources/MachinePool", "Sources/MachineProtocol", "Sources/Machines", "Sources/Masking", "Sources/Pipeline",
        "Sources/PlanOrder", "Sources/PlanRules", "Sources/ProofKeys", "Sources/Results", "Sources/ReviewAnswers",
        "Sources/Sandbox", "Sources/Settings", "Sources/StateFiles", "Sources/StepLogs", "Sources/StepSlots",
        "Sources/Store", "Sources/SystemCalls", "Sources/TerminalText", "Sources/TestReports",
        "Sources/WorkflowPrograms", "Sources/Workspaces", "Tests/MachineListTests", "Tests/TestBasics"
    ),
    Area("machine-pool", "Sources/MachinePool", "Sources/Pipeline", "Tests/MachinePoolTests"),
    Area(
        "machines", "Sources/Archive", "Sources/CGit", "Sources/CLinux", "Sources/CLooseObjects", "Sources/CZstd",
        "Sources/Concurrency", "Sources/Control", "Sources/DaemonLog", "Sources/Diagnostics", "Sources/Engine",
        "Sources/ForeignText", "Sources/Git", "Sources/Layers", "Sources/MachineAgent", "Sources/MachinePool",
        "Sources/MachineProtocol", "Sources/Machines", "Sources/Masking", "Sources/Pipeline", "Sources/PlanOrder",
        "Sources/PlanRules", "Sources/ProofKeys", "Sources/Reports", "Sources/Results", "Sources/ReviewAnswers",
        "Sources/Sandbox", "Sources/Settings", "Sources/StateFiles", "Sources/StepLogs", "Sources/StepSlots",
        "Sources/Store", "Sources/SystemCalls", "Sources/TerminalText", "Sources/TestReports",
        "Sources/WorkflowPrograms", "Sources/Workspaces", "Sources/pipectl-agent", "Sources/stepinit",
        "Tests/MachinesTests", "Tests/Support", "Tests/TestBasics"
    ),
    Area("masking", "Sources/Masking", "Tests/MaskingTests", "Tests/TestBasics"),
    Area("mcp", "Sources/MCP", "Tests/MCPTests"),
    Area("merge-queue", "Sources/MergeQueue", "Tests/MergeQueueTests", "Tests/TestBasics"),
    Area(
        "pages", "Sources/CGit", "Sources/CLinux", "Sources/CLooseObjects", "Sources/Concurrency", "Sources/Control",
        "Sources/CrashReports", "Sources/DaemonLog", "Sources/Diagnostics", "Sources/ForeignText", "Sources/Git",
        "Sources/PageMarkup", "Sources/Pages", "Sources/Pipeline", "Sources/Reports", "Sources/Results",
        "Sources/Settings", "Sources/Store", "Sources/SystemCalls", "Sources/TaskPages", "Sources/TaskText",
        "Sources/Tasks", "Sources/TerminalText", "Sources/TestReports", "Tests/PagesTests", "Tests/Support",
        "Tests/TestBasics"
    ),
    Area(
        "pipectl", "Sources/AgentTools", "Sources/AgentWork", "Sources/AppStore", "Sources/Archive",
        "Sources/CAllocator", "Sources/CGit", "Sources/CLinux", "Sources/CLooseObjects", "Sources/CZstd",
        "Sources/ChangeOpening", "Sources/Client", "Sources/CommandHelp", "Sources/Concurrency", "Sources/Control",
        "Sources/CrashReports", "Sources/Daemon", "Sources/DaemonLog", "Sources/DaemonSettings", "Sources/Delivery",
        "Sources/Diagnostics", "Sources/Engine", "Sources/Evaluating", "Sources/ForeignText",
        "Sources/ForgeConnection", "Sources/Forges", "Sources/Git", "Sources/LandedChanges", "Sources/Landing",
        "Sources/Layers", "Sources/Listening", "Sources/MCP", "Sources/MachineLinks", "Sources/MachineList",
        "Sources/MachinePool", "Sources/MachineProtocol", "Sources/Machines", "Sources/Masking", "Sources/MergeQueue",
        "Sources/PageMarkup", "Sources/Pages", "Sources/Pipeline", "Sources/Placing", "Sources/PlanOrder",
        "Sources/PlanRules", "Sources/Preparing", "Sources/ProjectSetup", "Sources/ProofKeys", "Sources/RefHints",
        "Sources/Reports", "Sources/Results", "Sources/ReviewAnswers", "Sources/Running", "Sources/Sandbox",
        "Sources/Secrets", "Sources/Settings", "Sources/Signing", "Sources/Spreading", "Sources/StateFiles",
        "Sources/StepLogs", "Sources/StepSlots", "Sources/Store", "Sources/SystemCalls", "Sources/TaskPages",
        "Sources/TaskService", "Sources/TaskText", "Sources/Tasks", "Sources/TerminalText", "Sources/TestIntegrity",
        "Sources/TestReports", "Sources/TestShards", "Sources/Watching", "Sources/WorkflowPrograms",
        "Sources/Workspaces", "Sources/pipectl", "Tests/Support", "Tests/TestBasics", "Tests/pipectlTests"
    ),
    Area("pipeline", "Sources/Pipeline", "Sources/PlanRules", "Tests/PipelineTests", "Tests/TestBasics"),
    Area(
        "placing", "Sources/Archive", "Sources/CGit", "Sources/CLinux", "Sources/CLooseObjects", "Sources/CZstd",
        "Sources/Concurrency", "Sources/Control", "Sources/DaemonLog", "Sources/Diagnostics", "Sources/Engine",
        "Sources/ForeignText", "Sources/Git", "Sources/Layers", "Sources/MachineLinks", "Sources/MachineList",
        "Sources/MachinePool", "Sources/MachineProtocol", "Sources/Machines", "Sources/Masking", "Sources/Pipeline",
        "Sources/Placing", "Sources/PlanOrder", "Sources/PlanRules", "Sources/ProofKeys", "Sources/Results",
        "Sources/ReviewAnswers", "Sources/Sandbox", "Sources/Settings", "Sources/Spreading", "Sources/StateFiles",
        "Sources/StepLogs", "Sources/StepSlots", "Sources/Store", "Sources/SystemCalls", "Sources/TerminalText",
        "Sources/TestReports", "Sources/WorkflowPrograms", "Sources/Workspaces", "Tests/PlacingTests",
        "Tests/TestBasics"
    ),
    Area(
        "plan-order", "Sources/CGit", "Sources/CLooseObjects", "Sources/Concurrency", "Sources/DaemonLog",
        "Sources/Git", "Sources/Pipeline", "Sources/PlanOrder", "Sources/Reports", "Sources/Results", "Sources/Store",
        "Sources/TerminalText", "Tests/PlanOrderTests", "Tests/Support", "Tests/TestBasics"
    ),
    Area(
        "preparing", "Sources/Archive", "Sources/CGit", "Sources/CLinux", "Sources/CLooseObjects",
        "Sources/ChangeOpening", "Sources/Concurrency", "Sources/Control", "Sources/CrashReports", "Sources/DaemonLog",
        "Sources/Diagnostics", "Sources/Engine", "Sources/ForeignText", "Sources/ForgeConnection", "Sources/Forges",
        "Sources/Git", "Sources/LandedChanges", "Sources/Layers", "Sources/Listening", "Sources/MachinePool",
        "Sources/Masking", "Sources/Pipeline", "Sources/PlanOrder", "Sources/PlanRules", "Sources/Preparing",
        "Sources/ProofKeys", "Sources/RefHints", "Sources/Reports", "Sources/Results", "Sources/ReviewAnswers",
        "Sources/Sandbox", "Sources/Settings", "Sources/StateFiles", "Sources/StepLogs", "Sources/StepSlots",
        "Sources/Store", "Sources/SystemCalls", "Sources/Tasks", "Sources/TerminalText", "Sources/TestIntegrity",
        "Sources/TestReports", "Sources/Watching", "Sources/WorkflowPrograms", "Sources/Workspaces",
        "Sources/stepinit", "Tests/PreparingTests", "Tests/Support", "Tests/TestBasics"
    ),
    Area(
        "project-setup", "Sources/CGit", "Sources/CLinux", "Sources/CLooseObjects", "Sources/Concurrency",
        "Sources/DaemonLog", "Sources/Diagnostics", "Sources/Engine", "Sources/ForeignText", "Sources/Git",
        "Sources/Masking", "Sources/Pipeline", "Sources/PlanOrder", "Sources/PlanRules", "Sources/ProjectSetup",
        "Sources/ProofKeys", "Sources/Reports", "Sources/Results", "Sources/ReviewAnswers", "Sources/Sandbox",
        "Sources/StepLogs", "Sources/StepSlots", "Sources/Store", "Sources/SystemCalls", "Sources/TerminalText",
        "Sources/TestReports", "Sources/WorkflowPrograms", "Tests/ProjectSetupTests", "Tests/Support",
        "Tests/TestBasics", "docs"
    ),
    Area(
        "proof-keys", "Sources/CLinux", "Sources/Concurrency", "Sources/Diagnostics", "Sources/ForeignText",
        "Sources/Pipeline", "Sources/ProofKeys", "Sources/Results", "Sources/Sandbox", "Sources/TerminalText",
        "Sources/TestReports", "Tests/ProofKeysTests"
    ),
    Area(
        "ref-hints", "Sources/CGit", "Sources/CLinux", "Sources/CLooseObjects", "Sources/Concurrency",
        "Sources/DaemonLog", "Sources/Git", "Sources/Pipeline", "Sources/RefHints", "Sources/Reports",
        "Sources/Results", "Sources/Store", "Sources/SystemCalls", "Sources/TerminalText", "Tests/RefHintsTests",
        "Tests/Support", "Tests/TestBasics"
    ),
    Area(
        "reports", "Sources/CGit", "Sources/CLooseObjects", "Sources/Concurrency", "Sources/DaemonLog", "Sources/Git",
        "Sources/Pipeline", "Sources/Reports", "Sources/Results", "Sources/Store", "Sources/TerminalText",
        "Tests/ReportsTests", "Tests/Support", "Tests/TestBasics", "docs"
    ),
    Area("results", "Sources/Pipeline", "Sources/Results", "Tests/ResultsTests"),
    Area(
        "running", "Sources/AgentWork", "Sources/Archive", "Sources/CGit", "Sources/CLinux", "Sources/CLooseObjects",
        "Sources/CZstd", "Sources/ChangeOpening", "Sources/Concurrency", "Sources/Control", "Sources/CrashReports",
        "Sources/DaemonLog", "Sources/Delivery", "Sources/Diagnostics", "Sources/Engine", "Sources/Evaluating",
        "Sources/ForeignText", "Sources/ForgeConnection", "Sources/Forges", "Sources/Git", "Sources/LandedChanges",
        "Sources/Layers", "Sources/Listening", "Sources/MCP", "Sources/MachineLinks", "Sources/MachineList",
        "Sources/MachinePool", "Sources/MachineProtocol", "Sources/Machines", "Sources/Masking", "Sources/PageMarkup",
        "Sources/Pipeline", "Sources/Placing", "Sources/PlanOrder", "Sources/PlanRules", "Sources/Preparing",
        "Sources/ProofKeys", "Sources/RefHints", "Sources/Reports", "Sources/Results", "Sources/ReviewAnswers",
        "Sources/Running", "Sources/Sandbox", "Sources/Secrets", "Sources/Settings", "Sources/Signing",
        "Sources/Spreading", "Sources/StateFiles", "Sources/StepLogs", "Sources/StepSlots", "Sources/Store",
        "Sources/SystemCalls", "Sources/Tasks", "Sources/TerminalText", "Sources/TestIntegrity", "Sources/TestReports",
        "Sources/TestShards", "Sources/Watching", "Sources/WorkflowPrograms", "Sources/Workspaces", "Sources/stepinit",
        "Tests/RunSamples", "Tests/RunningTests", "Tests/Support", "Tests/TestBasics"
    ),
    Area(
        "sandbox", "Sources/CGit", "Sources/CLinux", "Sources/CLooseObjects", "Sources/Concurrency",
        "Sources/DaemonLog", "Sources/Git", "Sources/Pipeline", "Sources/Reports", "Sources/Results",
        "Sources/Sandbox", "Sources/Store", "Sources/TerminalText", "Sources/stepinit", "Tests/SandboxTests",
        "Tests/Support", "Tests/TestBasics"
    ),
    Area(
        "secrets", "Sources/CGit", "Sources/CLinux", "Sources/CLooseObjects", "Sources/Concurrency",
        "Sources/DaemonLog", "Sources/Diagnostics", "Sources/Engine", "Sources/ForeignText", "Sources/Git",
        "Sources/Masking", "Sources/Pipeline", "Sources/PlanOrder", "Sources/ProofKeys", "Sources/Reports",
        "Sources/Results", "Sources/ReviewAnswers", "Sources/Sandbox", "Sources/Secrets", "Sources/StateFiles",
        "Sources/StepLogs", "Sources/StepSlots", "Sources/Store", "Sources/SystemCalls", "Sources/TerminalText",
        "Sources/TestReports", "Tests/SecretsTests", "Tests/Support", "Tests/TestBasics"
    ),
    Area(
        "settings", "Sources/CGit", "Sources/CLooseObjects", "Sources/Concurrency", "Sources/DaemonLog", "Sources/Git",
        "Sources/Pipeline", "Sources/Reports", "Sources/Results", "Sources/Settings", "Sources/Store",
        "Sources/SystemCalls", "Sources/TerminalText", "Tests/SettingsTests", "Tests/Support", "Tests/TestBasics"
    ),
    Area("signing", "Sources/Signing", "Tests/SigningTests", "Tests/TestBasics"),
    Area(
        "spreading", "Sources/Archive", "Sources/CGit", "Sources/CLinux", "Sources/CLooseObjects", "Sources/CZstd",
        "Sources/Concurrency", "Sources/Control", "Sources/DaemonLog", "Sources/Diagnostics", "Sources/Engine",
        "Sources/ForeignText", "Sources/Git", "Sources/Layers", "Sources/MachineAgent", "Sources/MachineLinks",
        "Sources/MachineList", "Sources/MachinePool", "Sources/MachineProtocol", "Sources/Machines", "Sources/Masking",
        "Sources/Pipeline", "Sources/Placing", "Sources/PlanOrder", "Sources/PlanRules", "Sources/ProofKeys",
        "Sources/Reports", "Sources/Results", "Sources/ReviewAnswers", "Sources/Sandbox", "Sources/Settings",
        "Sources/Spreading", "Sources/StateFiles", "Sources/StepLogs", "Sources/StepSlots", "Sources/Store",
        "Sources/SystemCalls", "Sources/TerminalText", "Sources/TestReports", "Sources/TestShards",
        "Sources/WorkflowPrograms", "Sources/Workspaces", "Sources/pipectl-agent", "Sources/stepinit",
        "Tests/SpreadingTests", "Tests/Support", "Tests/TestBasics"
    ),
    Area(
        "state-files", "Sources/CGit", "Sources/CLooseObjects", "Sources/Concurrency", "Sources/Control",
        "Sources/DaemonLog", "Sources/Git", "Sources/Pipeline", "Sources/Reports", "Sources/Results",
        "Sources/Settings", "Sources/StateFiles", "Sources/Store", "Sources/SystemCalls", "Sources/TerminalText",
        "Tests/StateFilesTests", "Tests/Support", "Tests/TestBasics"
    ),
    Area(
        "store", "Sources/CGit", "Sources/CLooseObjects", "Sources/Concurrency", "Sources/DaemonLog", "Sources/Git",
        "Sources/Pipeline", "Sources/Reports", "Sources/Results", "Sources/Store", "Sources/TerminalText",
        "Tests/StoreTests", "Tests/Support", "Tests/TestBasics"
    ),
    Area(
        "task-service", "Sources/AgentWork", "Sources/AppStore", "Sources/Archive", "Sources/CGit", "Sources/CLinux",
        "Sources/CLooseObjects", "Sources/CZstd", "Sources/ChangeOpening", "Sources/Concurrency", "Sources/Control",
        "Sources/CrashReports", "Sources/DaemonLog", "Sources/Delivery", "Sources/Diagnostics", "Sources/Engine",
        "Sources/Evaluating", "Sources/ForeignText", "Sources/ForgeConnection", "Sources/Forges", "Sources/Git",
        "Sources/LandedChanges", "Sources/Landing", "Sources/Layers", "Sources/Listening", "Sources/MCP",
        "Sources/MachineLinks", "Sources/MachineList", "Sources/MachinePool", "Sources/MachineProtocol",
        "Sources/Machines", "Sources/Masking", "Sources/MergeQueue", "Sources/PageMarkup", "Sources/Pipeline",
        "Sources/Placing", "Sources/PlanOrder", "Sources/PlanRules", "Sources/Preparing", "Sources/ProofKeys",
        "Sources/RefHints", "Sources/Reports", "Sources/Results", "Sources/ReviewAnswers", "Sources/Running",
        "Sources/Sandbox", "Sources/Secrets", "Sources/Settings", "Sources/Signing", "Sources/Spreading",
        "Sources/StateFiles", "Sources/StepLogs", "Sources/StepSlots", "Sources/Store", "Sources/SystemCalls",
        "Sources/TaskService", "Sources/Tasks", "Sources/TerminalText", "Sources/TestIntegrity", "Sources/TestReports",
        "Sources/TestShards", "Sources/Watching", "Sources/WorkflowPrograms", "Sources/Workspaces", "Tests/RunSamples",
        "Tests/TaskServiceTests", "Tests/TestBasics"
    ),
    Area(
        "tasks", "Sources/CLinux", "Sources/CrashReports", "Sources/ForeignText", "Sources/Pipeline",
        "Sources/Results", "Sources/Tasks", "Sources/TerminalText", "Tests/TasksTests", "Tests/TestBasics"
    ),
    Area(
        "task-text", "Sources/Pipeline", "Sources/Results", "Sources/TaskText", "Sources/TerminalText",
        "Tests/TaskTextTests"
    ),
    Area("terminal-text", "Sources/TerminalText", "Tests/TerminalTextTests", "Tests/TestBasics"),
    Area(
        "test-integrity", "Sources/Pipeline", "Sources/TestIntegrity", "Sources/swift-reader",
        "Tests/TestIntegrityTests", "docs"
    ),
    Area(
        "test-reports", "Sources/CLinux", "Sources/Diagnostics", "Sources/ForeignText", "Sources/Pipeline",
        "Sources/Results", "Sources/TerminalText", "Sources/TestReports", "Tests/TestBasics", "Tests/TestReportsTests"
    ),
    Area(
        "test-shards", "Sources/Archive", "Sources/CGit", "Sources/CLinux", "Sources/CLooseObjects",
        "Sources/ChangeOpening", "Sources/Concurrency", "Sources/Control", "Sources/CrashReports", "Sources/DaemonLog",
        "Sources/Diagnostics", "Sources/Engine", "Sources/ForeignText", "Sources/ForgeConnection", "Sources/Forges",
        "Sources/Git", "Sources/LandedChanges", "Sources/Layers", "Sources/Listening", "Sources/MachinePool",
        "Sources/Masking", "Sources/Pipeline", "Sources/PlanOrder", "Sources/PlanRules", "Sources/Preparing",
        "Sources/ProofKeys", "Sources/RefHints", "Sources/Reports", "Sources/Results", "Sources/ReviewAnswers",
        "Sources/Sandbox", "Sources/Settings", "Sources/StateFiles", "Sources/StepLogs", "Sources/StepSlots",
        "Sources/Store", "Sources/SystemCalls", "Sources/Tasks", "Sources/TerminalText", "Sources/TestIntegrity",
        "Sources/TestReports", "Sources/TestShards", "Sources/Watching", "Sources/WorkflowPrograms",
        "Sources/Workspaces", "Sources/stepinit", "Tests/Support", "Tests/TestBasics", "Tests/TestShardsTests"
    ),
    Area(
        "watching", "Sources/Archive", "Sources/CGit", "Sources/CLinux", "Sources/CLooseObjects",
        "Sources/Concurrency", "Sources/Control", "Sources/DaemonLog", "Sources/Diagnostics", "Sources/Engine",
        "Sources/ForeignText", "Sources/Git", "Sources/LandedChanges", "Sources/Layers", "Sources/MachinePool",
        "Sources/Masking", "Sources/Pipeline", "Sources/PlanOrder", "Sources/PlanRules", "Sources/ProofKeys",
        "Sources/RefHints", "Sources/Reports", "Sources/Results", "Sources/ReviewAnswers", "Sources/Sandbox",
        "Sources/Settings", "Sources/StateFiles", "Sources/StepLogs", "Sources/StepSlots", "Sources/Store",
        "Sources/SystemCalls", "Sources/TerminalText", "Sources/TestReports", "Sources/Watching",
        "Sources/WorkflowPrograms", "Sources/Workspaces", "Sources/stepinit", "Tests/Support", "Tests/TestBasics",
        "Tests/WatchingTests"
    ),
    Area(
        "workflow-programs", "Sources/CGit", "Sources/CLinux", "Sources/CLooseObjects", "Sources/Concurrency",
        "Sources/Diagnostics", "Sources/Engine", "Sources/ForeignText", "Sources/Git", "Sources/Masking",
        "Sources/Pipeline", "Sources/PlanOrder", "Sources/PlanRules", "Sources/ProjectSetup", "Sources/ProofKeys",
        "Sources/Results", "Sources/ReviewAnswers", "Sources/Sandbox", "Sources/StepLogs", "Sources/StepSlots",
        "Sources/SystemCalls", "Sources/TerminalText", "Sources/TestReports", "Sources/WorkflowPrograms",
        "Tests/TestBasics", "Tests/WorkflowProgramsTests", "docs", "workflows"
    ),
    Area(
        "workspaces", "Sources/Archive", "Sources/CGit", "Sources/CLinux", "Sources/CLooseObjects",
        "Sources/Concurrency", "Sources/Control", "Sources/DaemonLog", "Sources/Diagnostics", "Sources/Engine",
        "Sources/ForeignText", "Sources/Git", "Sources/Layers", "Sources/MachinePool", "Sources/Masking",
        "Sources/Pipeline", "Sources/PlanOrder", "Sources/PlanRules", "Sources/ProofKeys", "Sources/Reports",
        "Sources/Results", "Sources/ReviewAnswers", "Sources/Sandbox", "Sources/Settings", "Sources/StateFiles",
        "Sources/StepLogs", "Sources/StepSlots", "Sources/Store", "Sources/SystemCalls", "Sources/TerminalText",
        "Sources/TestReports", "Sources/WorkflowPrograms", "Sources/Workspaces", "Sources/stepinit", "Tests/Support",
        "Tests/TestBasics", "Tests/WorkspacesTests"
    ),
]
