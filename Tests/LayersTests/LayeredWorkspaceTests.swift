import Foundation
import Git
import TestBasics
import TestSupport
import Testing

import Sandbox
@testable import Layers

/// Workspaces over layers, with real mounts and steps in real sandboxes.
@Suite(.enabled(if: Overlays.isPossible, "nothing can be mounted here"), .timeLimit(.minutes(3)))
struct LayeredWorkspaceTests {
    private static let first = """
        M 100644 inline .gitignore
        data 13
        product
        deep

        M 100644 inline src/one
        data 2
        1

        M 100644 inline src/two
        data 2
        2

        M 100755 inline src/run
        data 2
        r

        M 100644 inline gone/all
        data 2
        g

        M 120000 inline link
        data 7
        src/one
        """ + "\n"

    /// Of the first commit's files: one changed, one removed with its folder, one new, and one that became a folder.
    private static let second = """
        M 100644 inline src/one
        data 3
        11

        D gone/all
        M 100644 inline new/file
        data 2
        n

        D src/run
        M 100644 inline src/run/inner
        data 2
        i

        """ + "\n"

    private let cleanliness = """
        test -z "$(git status --porcelain)"; test -z "$(git diff HEAD)"; test -z "$(git diff-files)"
        case "$(git describe --always --dirty)" in *dirty) exit 9;; esac
        git fsck --no-dangling --connectivity-only > /tmp/fsck 2>&1 || { cat /tmp/fsck; exit 8; }
        """

    @Test func `a run over a snapshot has its own tree and the snapshot's products`() async throws {
        try await LayerGround.with { ground in
            let (old, new) = (
                try await ground.commit(LayeredWorkspaceTests.first),
                try await ground.commit(LayeredWorkspaceTests.second)
            )
            let builder = try ground.users.take()
            let cold = try await ground.workspace(old, user: builder)
            #expect(!cold.isOverBase && cold.problem == nil && cold.written.isEmpty)
            _ = try await ground.step("\(cleanliness)", in: cold, as: builder)
            _ = try await ground.step(
                "cat src/* > product; touch -d 2001-02-03 product; git gc -q", in: cold, as: builder)
            let base = try await ground.seal(cold)
            let before = try await ground.fingerprint(base.layers[0].path)

            let user = try ground.users.take()
            let warm = try await ground.workspace(new, over: base, user: user)
            #expect(warm.isOverBase && warm.problem == nil)
            #expect(warm.written.sorted() == ["gone", "new/file", "src/one", "src/run/inner"])
            #expect(try await ground.step("\(cleanliness); git rev-parse HEAD", in: warm, as: user) == "\(new.hex)\n")
            let seen = try await ground.step(
                "cat product; find product -printf '%TY-%Tm-%Td\\n'; rm product; \(LayerGround.listing)", in: warm,
                as: user)
            // The daemon sees the same files without entering the mount, and can write there.
            #expect(try String(contentsOfFile: "\(warm.view)/src/one", encoding: .utf8) == "11\n")
            #expect(!FileManager.default.fileExists(atPath: "\(warm.view)/product"))
            #expect(!FileManager.default.fileExists(atPath: "\(warm.path)/src"), "nothing is mounted out here")
            let plain = try await Workspace.make(
                at: ground.space("plain"), commit: new, store: ground.store)
            let whole = try await ExternalCommand("/bin/sh", ["-ec", LayerGround.listing], in: plain.path).run().text
            #expect(seen == "1\nr\n2\n2001-02-03\n\(whole)")
            // The third generation: the second run's files are a layer as well.
            _ = try await ground.step("echo second > product", in: warm, as: user)
            let further = try await ground.seal(warm)
            let last = try await ground.workspace(old, over: further, user: builder)
            #expect(
                try await ground.step("\(cleanliness); cat product src/one src/run gone/all", in: last, as: builder)
                    == "second\n1\nr\ng\n")
            await last.close()
            #expect(try await ground.fingerprint(base.layers[0].path) == before)
        }
    }

    @Test func `writes of a step stay in its run`() async throws {
        try await LayerGround.with { ground in
            let commit = try await ground.commit(LayeredWorkspaceTests.first)
            let builder = try ground.users.take()
            let cold = try await ground.workspace(commit, user: builder)
            // Deeper than a run's folders may be nested, unless a run has started these tests.
            let depth = OuterStep.isThere ? 150 : 300
            _ = try await ground.step(
                "echo built > product; mkdir -p deep; cd deep; for i in $(seq \(depth)); do mkdir d; cd d; done; echo x > x",
                in: cold, as: builder)
            let base = try await ground.seal(cold)
            var before: [String] = []
            for layer in base.layers { before.append(try await ground.fingerprint(layer.path)) }

            let users = [try ground.users.take(), try ground.users.take()]
            let (one, other) = (
                try await ground.workspace(commit, over: base, user: users[0]),
                try await ground.workspace(commit, over: base, user: users[1])
            )
            _ = try await ground.step(
                """
                echo more >> src/one; test "$(cat src/one)" = "1
                more"; chmod 600 src/two; touch -d 1999-01-01 src/run; mv src/run src/moved; ln product hard; echo h > hard
                test "$(cat product)" = h; mkfifo fifo; mkdir own; mv own owned; rm -rf deep
                ! mknod device c 0 0 2> /dev/null; ! mknod device b 8 0 2> /dev/null
                if command -v python3 > /dev/null; then python3 -c '
                import os, socket
                socket.socket(socket.AF_UNIX).bind("socket")
                for name in "opaque", "redirect", "metacopy", "whiteout":
                    for path in "src", "src/one", "owned":
                        try: os.setxattr(path, "user.overlay." + name, b"y")
                        except OSError: pass
                '; fi
                chmod -R 777 .; rm -rf src; test ! -e src; mkdir src; ln -s /etc src/etc; rm -rf .git; mkdir .git
                echo '[core] fsmonitor = /bin/false' > .git/config
                """, in: one, as: users[0])
            #expect(
                try await ground.step(
                    "cat src/one product; test ! -e fifo; find deep -type d | wc -l; \(cleanliness)", in: other,
                    as: users[1]) == "1\nbuilt\n\(depth + 1)\n")
            await one.close()
            await other.close()
            for (number, layer) in base.layers.enumerated() {
                #expect(try await ground.fingerprint(layer.path) == before[number], "\(layer.path)")
            }
            // Files that the run before left in its own folders are removed with them, however deep.
            try await Workspace.remove(one.folder)
            let again = try await ground.workspace(commit, over: base, user: users[0])
            #expect(try await ground.step("cat src/one; \(cleanliness)", in: again, as: users[0]) == "1\n")
        }
    }

    @Test func `traps in a snapshot redirect nothing`() async throws {
        try await LayerGround.with { ground in
            let (old, new) = (
                try await ground.commit(LayeredWorkspaceTests.first),
                try await ground.commit(LayeredWorkspaceTests.second)
            )
            let outside = "\(ground.folder)/outside"
            for folder in ["src", "gone", "new"] {
                try FileManager.default.createDirectory(
                    atPath: "\(outside)/\(folder)", withIntermediateDirectories: true)
            }
            try "outside\n".write(toFile: "\(outside)/src/one", atomically: true, encoding: .utf8)
            try "outside\n".write(toFile: "\(outside)/gone/all", atomically: true, encoding: .utf8)
            let before = try await ground.fingerprint(outside)
            let plants = [
                // Links in place of folders, of files, and at paths that will be new.
                "rm -rf src gone; ln -s '\(outside)/src' src; ln -s '\(outside)/gone' gone; ln -s '\(outside)/new' new",
                "rm -rf src/one src/run; ln -s '\(outside)/src/one' src/one; ln -s '\(outside)' src/run",
                // Files in place of folders, and folders in place of files.
                "rm -rf src gone; echo x > src; echo x > gone; mkdir -p new/file/in",
                "rm -rf src/one gone/all; mkdir -p src/one/in gone/all/in; chmod 0 src/one gone; rm link; mkfifo link",
                // A repository whose settings would run a program.
                "rm -rf .git; mkdir .git; echo '[core] fsmonitor = touch ran' > .git/config; echo x > .git/index",
            ]
            for plant in plants {
                let user = try ground.users.take()
                let cold = try await ground.workspace(old, user: user)
                _ = try await ground.step(plant, in: cold, as: user)
                await cold.close()
                // As if the steps' files had not been checked; no snapshot is made of this.
                let base = WorkspaceSource(
                    layers: [try #require(cold.upper)] + cold.layers, tree: try #require(cold.tree),
                    index: try #require(cold.index))
                let warm = try await ground.workspace(new, over: base, user: user)
                #expect(warm.isOverBase, "\(plant): \(warm.problem ?? "")")
                let seen = try await ground.step(
                    "cat src/one src/run/inner new/file; test ! -L src; test ! -e gone; test ! -L gone; git rev-parse HEAD; git config core.fsmonitor || true",
                    in: warm, as: user)
                #expect(seen == "11\ni\nn\n\(new.hex)\n", "\(plant)")
                await warm.close()
                #expect(try await ground.fingerprint(outside) == before, "\(plant)")
            }
        }
    }

    /// Whatever steps built, cloned or tracked there.
    @Test func `a new submodule is an empty folder`() async throws {
        try await LayerGround.with { ground in
            let (old, new) = (
                try await ground.commit(LayeredWorkspaceTests.first),
                try await ground.commit(
                    """
                    D src
                    M 160000 1111111111111111111111111111111111111111 src
                    M 160000 2222222222222222222222222222222222222222 deep/tool
                    D gone/all
                    M 160000 3333333333333333333333333333333333333333 gone/all
                    """ + "\n")
            )
            let user = try ground.users.take()
            let cold = try await ground.workspace(old, user: user)
            _ = try await ground.step(
                "mkdir -p src/obj deep/tool; echo x > src/obj/x; echo x > src/one.o; git init -q deep/tool; echo x > deep/x",
                in: cold, as: user)
            let base = try await ground.seal(cold)
            let warm = try await ground.workspace(new, over: base, user: user)
            #expect(warm.isOverBase && warm.problem == nil)
            let look = "ls -A src deep deep/tool gone/all; git status --porcelain"
            #expect(
                try await ground.step(look, in: warm, as: user)
                    == "deep:\ntool\nx\n\ndeep/tool:\n\ngone/all:\n\nsrc:\n")
            let further = try await ground.seal(warm)
            let back = try await ground.workspace(old, over: further, user: user)
            #expect(
                try await ground.step("cat src/one gone/all; git status --porcelain", in: back, as: user) == "1\ng\n")
        }
    }

    @Test func `without layers it is a plain checkout`() async throws {
        try await LayerGround.with { ground in
            let (old, new) = (
                try await ground.commit(LayeredWorkspaceTests.first),
                try await ground.commit(LayeredWorkspaceTests.second)
            )
            let cold = try await ground.workspace(old)
            let base = try await ground.seal(cold)
            let unmounted = try await Workspace.make(
                at: ground.space("unmounted"), commit: new, store: ground.store, base: base, layering: nil)
            try "no index".write(toFile: "\(ground.folder)/bad", atomically: true, encoding: .utf8)
            var broken = base
            broken.index = "\(ground.folder)/bad"
            let damaged = try await ground.workspace(new, over: broken)
            var missing = base
            missing.layers[0].path += "-gone"
            let incomplete = try await ground.workspace(new, over: missing)
            for plain in [unmounted, damaged, incomplete] {
                #expect(plain.enter.isEmpty && plain.upper == nil && plain.view == plain.path && !plain.isOverBase)
                #expect(try String(contentsOfFile: "\(plain.path)/src/one", encoding: .utf8) == "11\n")
            }
            #expect(unmounted.problem == nil)
            #expect(damaged.problem?.contains("index") == true)
            #expect(incomplete.problem?.contains("No such file") == true)
        }
    }
}
