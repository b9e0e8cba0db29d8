/// What the API answers, in OpenAPI 3.1. A test checks answers against it.
/// https://spec.openapis.org/oas/v3.1.0
enum OpenAPI {
    static let document = #"""
        {
          "openapi": "3.1.0",
          "info": {"title": "pipectl", "version": "1", "description": "What a build box does and did. Errors are {\"error\": SENTENCE}. Fields may be added; ones without a value are left out."},
          "servers": [{"url": "/api/v1"}],
          "paths": {
            "/status": {"get": {"summary": "What the daemon does now", "responses": {"200": {"description": "The state", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Status"}}}}}}},
            "/runs": {"get": {"summary": "Runs, the newest first", "parameters": [
              {"name": "repository", "in": "query", "schema": {"type": "string"}},
              {"name": "workflow", "in": "query", "schema": {"type": "string"}},
              {"name": "change", "in": "query", "schema": {"type": "string"}},
              {"name": "branch", "in": "query", "schema": {"type": "string"}},
              {"name": "commit", "in": "query", "description": "The first digits of a commit", "schema": {"type": "string"}},
              {"name": "verdict", "in": "query", "schema": {"$ref": "#/components/schemas/Verdict"}},
              {"name": "state", "in": "query", "schema": {"$ref": "#/components/schemas/RunState"}},
              {"name": "before", "in": "query", "description": "Only runs with a smaller number", "schema": {"type": "integer"}},
              {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 20}}],
              "responses": {"200": {"description": "Runs", "content": {"application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/Run"}}}}}, "400": {"description": "A parameter is wrong", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}}}},
            "/runs/{run}": {"get": {"summary": "One run", "parameters": [{"$ref": "#/components/parameters/run"}], "responses": {"200": {"description": "The run", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/RunDetail"}}}}, "404": {"description": "No such run", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}}}},
            "/runs/{run}/report": {"get": {"summary": "The report of a run that has ended: docs/report.md", "parameters": [{"$ref": "#/components/parameters/run"}], "responses": {"200": {"description": "The report", "content": {"application/json": {"schema": {"type": "object"}}}}, "409": {"description": "It has not ended", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}}}},
            "/runs/{run}/junit": {"get": {"summary": "Its tests as JUnit XML", "parameters": [{"$ref": "#/components/parameters/run"}], "responses": {"200": {"description": "The tests", "content": {"application/xml": {}}}}}},
            "/runs/{run}/bundle": {"get": {"summary": "What must change before it passes, for an agent: docs/bundle.schema.json", "parameters": [{"$ref": "#/components/parameters/run"}], "responses": {"200": {"description": "The bundle", "content": {"application/json": {"schema": {"type": "object"}}}}}}},
            "/queue": {"get": {"summary": "The merge queues", "parameters": [{"name": "repository", "in": "query", "schema": {"type": "string"}}], "responses": {"200": {"description": "The queues", "content": {"application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/Queue"}}}}}}}},
            "/repositories/{repository}/changes": {"get": {"summary": "The changes of a repository, those that moved last first", "parameters": [{"name": "repository", "in": "path", "required": true, "schema": {"type": "string"}}, {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 200}}], "responses": {"200": {"description": "Changes", "content": {"application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/Change"}}}}}}}},
            "/releases": {"get": {"summary": "Runs of workflows that release, the newest first", "parameters": [{"name": "repository", "in": "query", "schema": {"type": "string"}}, {"name": "before", "in": "query", "schema": {"type": "integer"}}, {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 20}}], "responses": {"200": {"description": "Releases", "content": {"application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/Release"}}}}}}}},
            "/tests/flaky": {"get": {"summary": "Tests that passed and failed with the same files", "responses": {"200": {"description": "Tests", "content": {"application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/FlakyTest"}}}}}}}},
            "/tests/slowest": {"get": {"summary": "The slowest tests", "responses": {"200": {"description": "Tests", "content": {"application/json": {"schema": {"type": "array", "items": {"type": "object", "required": ["median", "worst", "share", "trend"]}}}}}}}},
            "/tests/history": {"get": {"summary": "The results of a test, the newest first", "parameters": [{"name": "name", "in": "query", "required": true, "schema": {"type": "string"}}], "responses": {"200": {"description": "Results", "content": {"application/json": {"schema": {"type": "array", "items": {"type": "object", "required": ["run", "workflow", "head", "result"]}}}}}}}}
          },
          "components": {
            "parameters": {"run": {"name": "run", "in": "path", "required": true, "schema": {"type": "integer"}}},
            "schemas": {
              "Error": {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}},
              "Verdict": {"type": "string", "enum": ["passed", "failed", "conflict", "definitionError", "flaky", "infrastructure", "superseded", "cancelled", "needsApproval", "notApplicable"]},
              "RunState": {"type": "string", "enum": ["queued", "running", "ended"]},
              "Run": {"type": "object", "required": ["id", "repository", "workflow", "event", "ref", "head", "state", "attempt", "createdAt", "testCounts", "stepCounts", "isArchived"],
                "properties": {"id": {"type": "integer"}, "repository": {"type": "string"}, "workflow": {"type": "string"}, "event": {"type": "string"}, "ref": {"type": "string"}, "branch": {"type": "string"}, "head": {"type": "string"}, "testedCommit": {"type": "string"}, "change": {"type": "string"}, "title": {"type": "string"}, "state": {"$ref": "#/components/schemas/RunState"}, "verdict": {"$ref": "#/components/schemas/Verdict"}, "reason": {"type": "string"}, "attempt": {"type": "integer"}, "createdAt": {"type": "string", "format": "date-time"}, "startedAt": {"type": "string", "format": "date-time"}, "endedAt": {"type": "string", "format": "date-time"}, "testCounts": {"type": "object"}, "stepCounts": {"type": "object"}, "isArchived": {"type": "boolean"}, "heldFor": {"type": "string"}}},
              "RunDetail": {"type": "object", "required": ["summary"], "properties": {"summary": {"$ref": "#/components/schemas/Run"}, "live": {"type": "object"}, "behind": {"type": "integer"}}},
              "Status": {"type": "object", "required": ["version", "processID", "slots", "repositories", "running", "queued", "held", "state"], "properties": {"version": {"type": "string"}, "processID": {"type": "integer"}, "slots": {"type": "integer"}, "repositories": {"type": "array", "items": {"type": "object"}}, "running": {"type": "array", "items": {"type": "object"}}, "queued": {"type": "array", "items": {"$ref": "#/components/schemas/Run"}}, "held": {"type": "array", "items": {"$ref": "#/components/schemas/Run"}}, "obstacle": {"type": "string"}, "freeBytes": {"type": "integer"}, "state": {"type": "string"}}},
              "Queue": {"type": "object", "required": ["repository", "branch", "target", "isDeclared", "entries", "ended"], "properties": {"repository": {"type": "string"}, "branch": {"type": "string"}, "target": {"type": "string"}, "frozen": {"type": "string"}, "isDeclared": {"type": "boolean"}, "entries": {"type": "array", "items": {"type": "object"}}, "ended": {"type": "array", "items": {"type": "object"}}}},
              "Change": {"type": "object", "required": ["name", "target", "head", "state", "title", "author", "updatedAt"], "properties": {"name": {"type": "string"}, "target": {"type": "string"}, "head": {"type": "string"}, "state": {"type": "string"}, "title": {"type": "string"}, "author": {"type": "string"}, "updatedAt": {"type": "string", "format": "date-time"}}},
              "Release": {"type": "object", "required": ["run", "landed", "artifacts"], "properties": {"run": {"$ref": "#/components/schemas/Run"}, "landed": {"type": "array", "items": {"type": "object", "required": ["name", "head", "commit"]}}, "artifacts": {"type": "array", "items": {"type": "object", "required": ["step", "path", "bytes", "sha256"]}}}},
              "FlakyTest": {"type": "object", "required": ["suite", "name", "flips", "runs", "trees", "lastRun", "lastWorkflow"], "properties": {"suite": {"type": "string"}, "name": {"type": "string"}, "flips": {"type": "integer"}, "runs": {"type": "integer"}, "trees": {"type": "integer"}, "lastRun": {"type": "integer"}}}
            }
          }
        }

        """#
}
