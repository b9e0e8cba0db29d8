/// A confinement that is looked for when the first process is to be enclosed, and then stays.
actor LazyConfinement {
    private let find: @Sendable () async -> Confinement
    private var found: Confinement?

    init(_ find: @escaping @Sendable () async -> Confinement) { self.find = find }

    var confinement: Confinement {
        get async {
            if let found { return found }
            let looked = await find()
            // Two may have looked at the same time; both must use the same users afterwards.
            let kept = found ?? looked
            found = kept
            return kept
        }
    }
}
