import Foundation
import Pipeline
import TestBasics
import TestSupport
@testable import WorkflowPrograms

extension FuzzTarget {
    static let processes: [FuzzTarget] = [answer, stepinit]

    /// A workflow program with an arbitrary answer: a file, something that is not a file, or a crash.
    private static let answer = FuzzTarget(
        name: "answer",
        corpus: {
            try Corpus.json(
                Plan(workflow: "test", steps: [PlannedStep(name: "a", action: .shell("true"))]),
                ProgramDescription(workflows: [WorkflowDeclaration(name: "w", triggers: [.manual])]))
        },
        isJSON: true, limit: 128 << 10
    ) { loop in
        try await withFuzzFolder { folder in
            let (program, input) = (folder + "/program", folder + "/input")
            try Data(script.utf8).write(to: URL(filePath: program))
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program)
            try await loop { bytes, random in
                try Data(bytes.bytes).write(to: URL(filePath: input))
                let mode = random.pick([
                    "copy", "copy", "copy", "link", "pipe", "folder", "large", "nothing", "print", "fail", "crash",
                ])
                let asked = ProgramAnswer(
                    executable: program, reads: [], programSandbox: .none,
                    environment: ["PATH": "/usr/bin:/bin", "MODE": mode, "INPUT": input],
                    limits: ProgramLimits(answer: 32 << 10))
                do {
                    let plan: Plan = try await asked.ask(.plan)
                    let isWhole = mode == "copy" && bytes.bytes.count <= 32 << 10
                    try demand(isWhole, "a plan from a program that did \(mode)")
                    let sent = try JSONDecoder().decode(Plan.self, from: Data(bytes.bytes))
                    try demand(sent == plan, "another plan than was answered")
                } catch let error as DefinitionError {
                    try demand([.badAnswer, .planFailed].contains(error.code), "\(mode): \(error.code)")
                    try demand(error.message.utf8.count < 4 << 10, "a message of \(error.message.utf8.count) bytes")
                }
            }
        }
    }

    /// Does what MODE says with the file that its last argument names.
    private static let script = """
        #!/bin/sh
        while [ $# -gt 1 ]; do shift; done
        case $MODE in
        copy) cat "$INPUT" > "$1" ;;
        link) ln -s "$INPUT" "$1" ;;
        pipe) mkfifo "$1" ;;
        folder) mkdir "$1" ;;
        large) cat "$INPUT" > "$1"; dd if=/dev/zero of="$1" bs=1 count=1 seek=99999999999 2>/dev/null ;;
        print) cat "$INPUT"; cat "$INPUT" >&2 ;;
        fail) cat "$INPUT"; exit 3 ;;
        crash) kill -SEGV $$ ;;
        esac
        """

    /// The process that starts steps, with a client that breaks the protocol.
    private static let stepinit = FuzzTarget(name: "stepinit", corpus: { [[0]] }) { loop in
        try await withFuzzFolder { folder in
            let host = try StepinitHost(folder: folder)
            defer { host.end() }
            try await loop { _, random in try host.attempt(&random) }
        }
    }
}
