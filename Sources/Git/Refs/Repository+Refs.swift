internal import CGit
internal import Foundation

extension Repository {
    /// All refs, and where `HEAD` points. 100,000 packed refs take about a hundredth of a second.
    ///
    /// - Parameter prefix: Only refs in this folder, with a slash at its end, as in `refs/heads/`.
    public func snapshot(under prefix: String = "refs/") throws(GitError) -> RefSnapshot {
        // Loose refs come first: a ref that is being packed is in `packed-refs` before its own file is removed.
        try snapshot(under: prefix, LooseRefs(in: commonDirectory, under: prefix))
    }

    /// - Parameter loose: The loose refs of this folder, which were just read.
    func snapshot(under prefix: String, _ loose: LooseRefs) throws(GitError) -> RefSnapshot {
        RefSnapshot(refs: try table(prefix, loose), head: try symbolicTarget("HEAD"))
    }

    private func table(_ prefix: String, _ loose: LooseRefs) throws(GitError) -> RefTable {
        guard !loose.hasOthers, let packed = PackedRefs("\(commonDirectory)/packed-refs", under: prefix) else {
            let all = try tableOfLibrary()
            return prefix == "refs/" ? all : RefTable(all.entries(under: prefix))
        }
        if loose.refs.isEmpty { return packed.table.settled }
        let odb = try Handle("git_repository_odb", free: git_odb_free) { git_repository_odb(&$0, pointer) }
        var own: [(name: String, id: OID?)] = []
        for (name, target) in loose.refs {
            let id =
                switch target {
                case .id(let id): self.target(of: id, named: name, in: odb.pointer)
                // Rare: a clone has one for each remote.
                case .ref: try resolved(name, in: odb.pointer)
                }
            own.append((name, id))
        }
        return packed.table.overlaid(by: own).settled
    }

    private func resolved(_ name: String, in odb: OpaquePointer) throws(GitError) -> OID? {
        var out: OpaquePointer?
        guard try gitFinds("git_reference_lookup", { git_reference_lookup(&out, pointer, name) }), let out else {
            return nil
        }
        defer { git_reference_free(out) }
        return target(of: out, named: name, in: odb)
    }

    /// The same, read by libgit2, for refs in a form that this module leaves to it.
    func tableOfLibrary() throws(GitError) -> RefTable {
        let iterator = try Handle("git_reference_iterator_new", free: git_reference_iterator_free) {
            git_reference_iterator_new(&$0, pointer)
        }
        let odb = try Handle("git_repository_odb", free: git_odb_free) { git_repository_odb(&$0, pointer) }
        var refs: [String: OID] = [:]
        while true {
            var out: OpaquePointer?
            let code = git_reference_next(&out, iterator.pointer)
            if code == GIT_ITEROVER.rawValue { break }
            guard code == 0, let out else {
                try git("git_reference_next") { code }
                break
            }
            defer { git_reference_free(out) }
            guard let name = git_reference_name(out).flatMap({ String(validatingCString: $0) }) else { continue }
            guard let id = target(of: out, named: name, in: odb.pointer) else { continue }
            if let old = refs.updateValue(id, forKey: name) { Self.settle(name, id, against: old, in: &refs) }
        }
        // Otherwise whoever may push a deeply nested ref could hide all others.
        let loose = LooseRefs(in: commonDirectory)
        for case (let name, .id(let id)) in loose.isBeyondLibrary ? loose.refs : []
        where refs[name] == nil && isRefName(name) {
            refs[name] = target(of: id, named: name, in: odb.pointer)
        }
        return RefTable(refs)
    }

    private func isRefName(_ name: String) -> Bool {
        var isValid: Int32 = 0
        return git_reference_name_is_valid(&isValid, name) == 0 && isValid == 1
    }

    /// Chooses between two names that are equal as Swift strings although their bytes differ, such as those with `K`
    /// and the Kelvin sign.
    ///
    /// The composed form is kept, so that nobody can replace a branch by one that only looks like it.
    private static func settle(_ name: String, _ id: OID, against old: OID, in refs: inout [String: OID]) {
        guard let place = refs.index(forKey: name) else { return }
        let known = refs[place].key
        guard Array(known.utf8) != Array(name.utf8) else { return }
        let composed = Array(name.precomposedStringWithCanonicalMapping.utf8)
        let isKnown =
            Array(known.utf8) == composed
            || Array(name.utf8) != composed && known.utf8.lexicographicallyPrecedes(name.utf8)
        refs.remove(at: place)
        refs[isKnown ? known : name] = isKnown ? old : id
    }

    /// The commit of a ref: symbolic refs are followed, tag objects are peeled; nil if that leads to nothing.
    private func target(of ref: OpaquePointer, named name: String, in odb: OpaquePointer) -> OID? {
        if let peeled = git_reference_target_peel(ref) { return OID(peeled.pointee) }
        guard let direct = git_reference_target(ref) else {
            var resolved: OpaquePointer?
            guard git_reference_resolve(&resolved, ref) == 0, let resolved else {
                git_error_clear()
                return nil
            }
            defer { git_reference_free(resolved) }
            return git_reference_target(resolved) == nil ? nil : target(of: resolved, named: name, in: odb)
        }
        return target(of: OID(direct.pointee), named: name, in: odb)
    }

    /// The object that an id in a ref stands for: tag objects are peeled.
    private func target(of id: OID, named name: String, in odb: OpaquePointer) -> OID? {
        // Only tags need a look at the object, because a branch can't contain a tag object, and each look takes
        // microseconds.
        guard name.hasPrefix("refs/tags/") else { return id }
        var (size, kind, raw) = (0, GIT_OBJECT_INVALID, id.raw)
        guard git_odb_read_header(&size, &kind, odb, &raw) == 0, kind == GIT_OBJECT_TAG else {
            git_error_clear()
            return id
        }
        var (tag, object): (OpaquePointer?, OpaquePointer?)
        defer { git_object_free(tag) }
        guard git_object_lookup(&tag, pointer, &raw, GIT_OBJECT_TAG) == 0,
            git_object_peel(&object, tag, GIT_OBJECT_ANY) == 0, let object
        else {
            git_error_clear()
            return id
        }
        defer { git_object_free(object) }
        return git_object_id(object).map { OID($0.pointee) }
    }

    /// The ref that `name` points to, if it is symbolic.
    func symbolicTarget(_ name: String) throws(GitError) -> String? {
        var out: OpaquePointer?
        guard try gitFinds("git_reference_lookup", { git_reference_lookup(&out, pointer, name) }), let out else {
            return nil
        }
        defer { git_reference_free(out) }
        return git_reference_symbolic_target(out).flatMap { String(validatingCString: $0) }
    }

    /// The id in a ref: symbolic refs are followed, tags are not peeled; nil if there is no such ref.
    public func ref(_ name: String) throws(GitError) -> OID? {
        guard !name.utf8.contains(0) else { return nil }
        var id = git_oid()
        let found = try gitFinds("git_reference_name_to_id") { git_reference_name_to_id(&id, pointer, name) }
        return found ? OID(id) : nil
    }

    /// Sets `name` to `id` if it still has the expected value: a compare-and-swap under the ref's lock file.
    ///
    /// - Parameter expecting: `.none`: any value. `.some(nil)`: the ref must not exist. `.some(old)`: it must be `old`.
    /// - Parameter message: The text for the reflog, if there is one.
    /// - Throws: `.modified` if the ref has another value, and `.locked` while another process holds the lock.
    public func setRef(_ name: String, to id: OID, expecting: OID?? = .none, message: String) throws(GitError) {
        // In C the name would end at the NUL, and another ref would be set.
        guard !name.utf8.contains(0) else {
            throw GitError(
                call: "git_reference_create", code: .invalidName, message: "the name of the ref contains a NUL")
        }
        var (raw, out): (git_oid, OpaquePointer?) = (id.raw, nil)
        defer { git_reference_free(out) }
        guard let expected = expecting else {
            try git("git_reference_create") { git_reference_create(&out, pointer, name, &raw, 1, message) }
            return
        }
        // An id of zeros means "no such ref". In contrast to force: 0, it is compared under the lock.
        var old = expected?.raw ?? git_oid()
        do {
            try git("git_reference_create_matching") {
                git_reference_create_matching(&out, pointer, name, &raw, 1, &old, message)
            }
        } catch {
            guard error.code == .modified || error.code == .notFound else { throw error }
            throw modified(name, expected: expected)
        }
    }

    private func modified(_ name: String, expected: OID?) -> GitError {
        let now = (try? ref(name))?.flatMap { $0 }.map { "is at \($0.short)" } ?? "does not exist"
        let wanted = expected.map { "it was expected at \($0.short)" } ?? "it was expected not to exist"
        return GitError(
            call: "git_reference_create_matching", code: .modified,
            message: "\(name) \(now), but \(wanted): another process moved it. Read it again and repeat.")
    }

    /// Deletes a ref, loose and packed. If it does not exist, nothing happens.
    ///
    /// - Throws: `.modified` if `expecting` is given and the ref has another value.
    public func deleteRef(_ name: String, expecting: OID? = nil) throws(GitError) {
        guard !name.utf8.contains(0) else { return }
        var out: OpaquePointer?
        guard try gitFinds("git_reference_lookup", { git_reference_lookup(&out, pointer, name) }), let out else {
            return
        }
        defer { git_reference_free(out) }
        if let expecting, git_reference_target(out).map({ OID($0.pointee) }) != expecting {
            throw modified(name, expected: expecting)
        }
        // Compares with the value that was read above, under the ref's lock.
        _ = try gitFinds("git_reference_delete") { git_reference_delete(out) }
    }
}
