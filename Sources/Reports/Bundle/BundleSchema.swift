/// The JSON Schema of a bundle, which is also in `docs/bundle.schema.json`.
public enum BundleSchema {
    /// The schema's text, in draft 2020-12.
    public static let text = #"""
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "$id": "urn:pipectl:schema:bundle:1",
          "title": "pipectl bundle",
          "description": "What must change before a run passes, in one bounded document. Ignore unknown keys.",
          "type": "object",
          "required": [
            "schemaVersion", "run", "repository", "workflow", "subject", "reason", "problems", "passed", "reproduce",
            "leftOut"
          ],
          "properties": {
            "schemaVersion": { "const": 1 },
            "run": { "type": "integer", "minimum": 1, "description": "the run's number on its box" },
            "repository": { "type": "string" },
            "workflow": { "type": "string" },
            "subject": { "type": "string", "description": "what is tested: change 7 into main" },
            "change": {
              "type": "object",
              "required": ["name", "title", "head", "target", "targetCommit"],
              "properties": {
                "name": { "type": "string" },
                "title": { "type": "string" },
                "head": { "type": "string" },
                "target": { "type": "string" },
                "targetCommit": { "type": "string" }
              }
            },
            "testedCommit": { "type": "string" },
            "verdict": {
              "description": "absent while the run is running",
              "enum": [
                "passed", "failed", "flaky", "infrastructure", "superseded", "cancelled", "needsApproval",
                "notApplicable", "conflict", "definitionError"
              ]
            },
            "reason": { "type": "string" },
            "notice": { "type": "string", "description": "says that strings here are data, not instructions" },
            "exitCode": { "type": "integer", "description": "of a command that waits for this verdict" },
            "problems": {
              "description": "most important first",
              "type": "array",
              "items": { "$ref": "#/$defs/problem" }
            },
            "comparison": {
              "description": "how many tests have another result than on the target",
              "type": "object",
              "required": [
                "against", "commit", "newlyFailing", "stillFailing", "fixed", "added", "removed", "renamed",
                "newlySkipped", "slower", "newFindings"
              ],
              "properties": {
                "against": { "type": "integer", "description": "the target's run" },
                "commit": { "type": "string" },
                "newlyFailing": { "type": "integer" },
                "stillFailing": { "type": "integer" },
                "fixed": { "type": "integer" },
                "added": { "type": "integer" },
                "removed": { "type": "integer" },
                "renamed": { "type": "integer" },
                "newlySkipped": { "type": "integer" },
                "slower": { "type": "integer" },
                "newFindings": { "type": "integer" }
              }
            },
            "fix": {
              "description": "what the workflow's fixer did",
              "type": "object",
              "required": ["state", "reason", "attempts"],
              "properties": {
                "state": {
                  "type": "string",
                  "description": "working, offered, pushed, needsApproval, givenUp, stopped; more may come"
                },
                "reason": { "type": "string" },
                "attempts": { "type": "integer" },
                "run": { "type": "integer", "description": "the run in which the fix passed" },
                "commit": { "type": "string" },
                "command": { "type": "string", "description": "applies the fix" }
              }
            },
            "passed": { "type": "string", "description": "what passed, in one line" },
            "reproduce": { "type": "string", "description": "the command that repeats the run" },
            "next": {
              "type": "object",
              "required": ["advice", "command"],
              "properties": { "advice": { "type": "string" }, "command": { "type": "string" } }
            },
            "leftOut": {
              "description": "what was omitted for length, and the command that shows it",
              "type": "array",
              "items": {
                "type": "object",
                "required": ["what", "command"],
                "properties": { "what": { "type": "string" }, "command": { "type": "string" } }
              }
            }
          },
          "$defs": {
            "problem": {
              "type": "object",
              "required": ["kind", "standing", "severity", "name"],
              "properties": {
                "kind": {
                  "enum": [
                    "test", "finding", "step", "conflict", "integrity", "removedTest", "newlySkippedTest"
                  ]
                },
                "standing": { "enum": ["newHere", "alsoOnTarget", "knownFlaky", "infrastructure", "unknown"] },
                "severity": { "enum": ["error", "warning", "note"] },
                "name": { "type": "string", "description": "the test's id, the finding's rule, the step, the file" },
                "step": { "type": "string" },
                "file": { "type": "string", "description": "relative to the repository where it is a file of it" },
                "line": { "type": "integer" },
                "column": { "type": "integer" },
                "message": { "type": "string" },
                "excerpt": { "type": "string", "description": "its output about this problem" },
                "hunks": {
                  "description": "the parts of the change nearest to it",
                  "type": "array",
                  "items": {
                    "type": "object",
                    "required": ["file", "line", "lines", "text"],
                    "properties": {
                      "file": { "type": "string" },
                      "line": { "type": "integer", "description": "in the tested commit" },
                      "lines": { "type": "integer" },
                      "text": { "type": "string", "description": "lines that begin with a space, + or -" }
                    }
                  }
                },
                "alike": {
                  "type": "object",
                  "description": "further tests that failed at the same line with the same message",
                  "required": ["count", "names"],
                  "properties": {
                    "count": { "type": "integer", "description": "how many" },
                    "names": { "type": "array", "items": { "type": "string" }, "description": "some of them, or all" }
                  }
                },
                "suggestion": { "type": "string" },
                "history": { "type": "string" },
                "reproduce": { "type": "string", "description": "the command that repeats only this" }
              }
            }
          }
        }

        """#
}
