package import Foundation

/// Where files come from: a statement of in-toto (version 1) with SLSA's provenance (version 1) as its predicate.
package struct Provenance: Sendable, Hashable, Codable {
    package static let payloadType = "application/vnd.in-toto+json"
    package static let statementType = "https://in-toto.io/Statement/v1"
    package static let predicateType = "https://slsa.dev/provenance/v1"
    /// What the parameters mean: those of a workflow of pipectl, as docs/guide/verifying.md says.
    package static let buildType = "urn:pipectl:buildtype:workflow:1"

    package struct Subject: Sendable, Hashable, Codable {
        package var name: String
        package var digest: [String: String]

        package init(name: String, sha256: String) {
            self.name = name
            digest = ["sha256": sha256]
        }
    }

    /// A thing that went in or came out; at least one of its fields is there.
    package struct Resource: Sendable, Hashable, Codable {
        package var name: String?
        package var uri: String?
        package var digest: [String: String]?
        package var annotations: [String: String]?

        package init(
            name: String? = nil, uri: String? = nil, digest: [String: String]? = nil,
            annotations: [String: String]? = nil
        ) {
            self.name = name
            self.uri = uri
            self.digest = digest
            self.annotations = annotations
        }
    }

    package struct BuildDefinition: Sendable, Hashable, Codable {
        package var buildType: String
        /// What whoever started it decided.
        package var externalParameters: ExternalParameters
        /// What the build box decided: its sandbox, for example.
        package var internalParameters: [String: String]
        /// The commit first, then what else went in.
        package var resolvedDependencies: [Resource]
    }

    package struct ExternalParameters: Sendable, Hashable, Codable {
        package var repository: String
        package var ref: String
        package var workflow: String
        package var version: String?
        /// The workflow's own parameters.
        package var parameters: [String: String]?

        package init(
            repository: String, ref: String, workflow: String, version: String? = nil,
            parameters: [String: String]? = nil
        ) {
            self.repository = repository
            self.ref = ref
            self.workflow = workflow
            self.version = version
            self.parameters = parameters
        }
    }

    package struct Builder: Sendable, Hashable, Codable {
        package var id: String
        package var version: [String: String]?
    }

    package struct Metadata: Sendable, Hashable, Codable {
        package var invocationId: String
        package var startedOn: Date
        package var finishedOn: Date
    }

    package struct RunDetails: Sendable, Hashable, Codable {
        package var builder: Builder
        package var metadata: Metadata
        package var byproducts: [Resource]?
    }

    package struct Predicate: Sendable, Hashable, Codable {
        package var buildDefinition: BuildDefinition
        package var runDetails: RunDetails
    }

    enum CodingKeys: String, CodingKey {
        case type = "_type"
        case subject, predicateType, predicate
    }

    package var type: String
    package var subject: [Subject]
    package var predicateType: String
    package var predicate: Predicate

    /// A run of a workflow that made files.
    ///
    /// - Parameters:
    ///   - commit: The commit that was built, as a URI of a repository with its digest `gitCommit`.
    ///   - inputs: What else went in, the definition for example.
    ///   - byproducts: What came out beside the files: logs, proofs.
    package init(
        of files: [Subject], parameters: ExternalParameters, internalParameters: [String: String] = [:],
        commit: Resource, inputs: [Resource] = [], builder: Builder, metadata: Metadata, byproducts: [Resource] = []
    ) {
        type = Self.statementType
        predicateType = Self.predicateType
        subject = files
        predicate = Predicate(
            buildDefinition: BuildDefinition(
                buildType: Self.buildType, externalParameters: parameters, internalParameters: internalParameters,
                resolvedDependencies: [commit] + inputs),
            runDetails: RunDetails(
                builder: builder, metadata: metadata, byproducts: byproducts.isEmpty ? nil : byproducts))
    }

    /// The commit that was built.
    package var commit: String? { predicate.buildDefinition.resolvedDependencies.first?.digest?["gitCommit"] }

    /// The statement in an envelope.
    package func signed(by signer: some Signer) async throws -> Envelope {
        try await Envelope(StrictJSON.encode(self), type: Self.payloadType, by: signer)
    }

    /// Reads the statement in an envelope; nil if it is one of another kind, such as a list of parts.
    ///
    /// - Throws: ``SigningError`` with `wrongKind`, `malformed` or `duplicateKey`.
    package static func read(_ envelope: Envelope) throws(SigningError) -> Provenance? {
        guard envelope.payloadType == payloadType else {
            throw SigningError(.wrongKind, "the envelope of the provenance has a payload of another type")
        }
        struct Head: Decodable {
            var _type: String
            var predicateType: String
        }
        let head = try StrictJSON.decode(Head.self, from: envelope.payload, named: "the statement")
        guard head._type == statementType else {
            throw SigningError(.wrongKind, "the payload is no statement of in-toto's version 1")
        }
        guard head.predicateType == predicateType else { return nil }
        let statement = try StrictJSON.decode(Provenance.self, from: envelope.payload, named: "the statement")
        guard statement.predicate.buildDefinition.buildType == buildType else {
            throw SigningError(
                .wrongKind, "the provenance is one of a builder that is not pipectl; its fields may mean other things")
        }
        return statement
    }
}
