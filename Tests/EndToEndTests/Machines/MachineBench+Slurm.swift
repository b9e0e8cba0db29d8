import Foundation
import TestSupport

/// Slurm for a daemon: scripts in PATH stand in for its commands. A job is a session of its own on this machine, as one on
/// a node is, and ends with nobody but `scancel` or itself.
extension MachineBench {
    /// The name of the machine that is Slurm.
    static let cluster = "cluster"

    static func withSlurm(workflows: String, _ body: (MachineBench) async throws -> Void) async throws {
        try await with([:], workflows: workflows) { machines in
            for (name, script) in machines.slurmCommands {
                let path = "\(machines.bench.root)/bin/\(name)"
                try "#!/bin/sh\n\(script)\n".write(toFile: path, atomically: true, encoding: .utf8)
                try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
            }
            try machines.list([cluster: ["node"]], at: { _ in "slurm" })
            do { try await body(machines) } catch {
                try await machines.cancelJobs()
                throw error
            }
            try await machines.cancelJobs()
        }
    }

    /// So that a test that failed leaves nothing.
    private func cancelJobs() async throws { for job in jobs { _ = try await bench.command(["scancel", job]) } }

    /// The jobs that have not ended.
    var jobs: [String] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "\(bench.root)/slurm")) ?? []
        return all.filter { id in
            !["ended", "cancelled"].contains {
                FileManager.default.fileExists(atPath: "\(bench.root)/slurm/\(id)/\($0)")
            }
        }
    }

    private var slurmCommands: [String: String] {
        let node = "env -u XDG_CACHE_HOME -u PIPECTL_HOME HOME=\(hosts)/\(Self.cluster)"
        return [
            "sbatch": """
            while [ $# -gt 0 ]; do
                case $1 in
                    -J) name=$2; shift ;;
                    --wrap) wrap=$2; shift ;;
                    --comment=*) comment=${1#*=} ;;
                esac
                shift
            done
            mkdir -p \(bench.root)/slurm \(hosts)/\(Self.cluster)
            id=1
            while ! mkdir \(bench.root)/slurm/$id 2>/dev/null; do id=$((id + 1)); done
            job=\(bench.root)/slurm/$id
            printf '%s' "$name" >$job/name
            printf '%s' "$comment" >$job/comment
            printf '#!/bin/sh\\n%s\\n' "$wrap" >$job/script
            cd /
            \(node) setsid sh -c 'echo $$ >"$0/new"; mv "$0/new" "$0/pid"; sh "$0/script"; touch "$0/ended"' $job \\
                </dev/null >/dev/null 2>&1 &
            while [ ! -e $job/pid ]; do sleep 0.02; done
            echo $id
            """,
            "squeue": """
            while [ $# -gt 0 ]; do
                case $1 in
                    -n) wanted=$2; shift ;;
                    -t) all=yes; shift ;;
                esac
                shift
            done
            for job in \(bench.root)/slurm/*; do
                [ -e $job/pid ] || continue
                name=$(cat $job/name)
                [ -z "$wanted" ] || [ "$wanted" = "$name" ] || continue
                state=RUNNING
                [ ! -e $job/ended ] || state=COMPLETED
                [ ! -e $job/cancelled ] || state=CANCELLED
                [ $state = RUNNING ] || [ -n "$all" ] || continue
                echo "${job##*/}|$name|$state|node1|$(cat $job/comment)|None"
            done
            """,
            "scancel": """
            while [ $# -gt 0 ]; do
                case $1 in
                    --me) ;;
                    -n) wanted=$2; shift ;;
                    *) id=$1 ;;
                esac
                shift
            done
            for job in \(bench.root)/slurm/*; do
                [ -e $job/pid ] && [ ! -e $job/ended ] && [ ! -e $job/cancelled ] || continue
                [ "${job##*/}" = "$id" ] || [ "$(cat $job/name)" = "$wanted" ] || continue
                touch $job/cancelled
                kill -KILL -- -$(cat $job/pid)
            done
            exit 0
            """,
            "srun": """
            while [ $# -gt 0 ] && [ "$1" != -- ]; do
                case $1 in --jobid=*) job=\(bench.root)/slurm/${1#*=} ;; esac
                shift
            done
            shift
            if [ -e $job/ended ] || [ -e $job/cancelled ]; then
                echo "srun: error: Unable to create step for job: Job/step already completing or completed" >&2
                exit 1
            fi
            cd /
            exec \(node) "$@"
            """,
        ]
    }
}
