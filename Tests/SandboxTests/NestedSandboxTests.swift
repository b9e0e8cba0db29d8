#if os(Linux)
    import TestBasics
    import TestSupport
    import Pipeline
    import SystemPackage
    import Testing

    @testable import Sandbox

    /// What a process may do with namespaces of its own, with and without the permission.
    @Suite(
        .enabled(if: UserNamespaces.arePossible, "the kernel lets nobody make user namespaces"),
        .timeLimit(.minutes(5)))
    struct NestedSandboxTests {
        private func inside(_ script: String, _ permissions: Set<SandboxPermission>) async throws -> Ended {
            let sandbox = try await Sandbox.find(stepInit: RunFolder.stepInit.string, toolchain: nil)
            let words = sandbox.command(
                SandboxPolicy(permissions: permissions), mounts: [SandboxMount(sandbox.program, at: "/opt/bwrap")],
                user: try StepUsers(seed: "nested").take(), lifetime: .withParent, directory: "/",
                ["/bin/sh", "-c", script])
            return try await CommandRunner().end(of: words)
        }

        /// All namespaces, with a /proc and a /dev of their own.
        private static let bubblewrap = """
            /opt/bwrap --unshare-all --hostname inner --ro-bind / / --proc /proc --dev /dev --tmpfs /tmp \
                sh -c 'hostname; cat /proc/sys/kernel/hostname; test -w /dev/null && touch /tmp/x && echo written'
            """

        /// What tools without bubblewrap do: a name, mounts, layers, and entering the namespaces again.
        private static let ownNamespaces = """
            unshare --map-root-user --mount --pid --fork --net --uts --ipc --cgroup --mount-proc sh -c '
                hostname inner && hostname
                mount -t tmpfs none /tmp && mkdir /tmp/lower /tmp/upper /tmp/work /tmp/both && echo memory
                mount -t overlay none -o lowerdir=/tmp/lower,upperdir=/tmp/upper,workdir=/tmp/work /tmp/both && echo layers
                nsenter -t 1 -m -u true && echo entered'
            """

        @Test func `a step with the permission makes sandboxes of its own`() async throws {
            let bubblewrap = try await inside(Self.bubblewrap, [.nestedSandboxes])
            #expect(bubblewrap.output == "inner\ninner\nwritten\n", "\(bubblewrap)")
            let own = try await inside(Self.ownNamespaces, [.nestedSandboxes])
            #expect(own.output == "inner\nmemory\nlayers\nentered\n", "\(own)")
        }

        @Test(arguments: [[], [SandboxPermission.tracing]])
        func `a step without the permission makes none`(_ permissions: Set<SandboxPermission>) async throws {
            for script in [Self.bubblewrap, Self.ownNamespaces] {
                let ended = try await inside(script, permissions)
                #expect(ended.code != 0 && ended.output == "", "\(ended)")
            }
        }

        /// Root of a user namespace that the step made has no rights to what is the machine's.
        @Test func `nobody in a nested sandbox changes the machine or the outer sandbox`() async throws {
            let script = """
                unshare --map-root-user --mount --uts --mount-proc --pid --fork sh -c '
                    hostname inner && hostname
                    for file in core_pattern modprobe hostname sysrq; do
                        (echo x > /proc/sys/kernel/$file) 2> /dev/null && echo "$file was written"
                    done
                    for file in /proc/sys/vm/drop_caches /proc/sys/fs/file-max /proc/sysrq-trigger /run/stepinit /x; do
                        (echo x > $file) 2> /dev/null && echo "$file was written"
                    done
                    mount -o remount,rw / 2> /dev/null && echo remounted
                    umount -l /opt/bwrap 2> /dev/null && echo unmounted
                    mknod /tmp/null c 1 3 2> /dev/null && echo device'
                hostname outer 2> /dev/null
                mount -t tmpfs none /tmp 2> /dev/null && echo mounted
                umount /proc 2> /dev/null && echo unmounted
                nsenter -t 1 -m true 2> /dev/null && echo entered
                hostname
                """
            let ended = try await inside(script, [.nestedSandboxes])
            #expect(ended.output == "inner\npipectl\n", "\(ended)")
        }
    }
#endif
