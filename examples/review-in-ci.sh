#!/bin/sh
# Reviews what a branch changes and fails the job when a finding is grave.
#   usage: review-in-ci.sh BASE          for example: review-in-ci.sh origin/main
# Needs: interpreter and node on PATH, a checkout with the history up to BASE, the key of your provider.
set -eu
base=${1:?usage: review-in-ci.sh BASE}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat > "$folder/schema.json" <<'JSON'
{
  "type": "object",
  "properties": {
    "findings": {
      "type": "array",
      "items": {
        "type": "object",
        "properties": {
          "priority": { "enum": ["P0", "P1", "P2", "P3"] },
          "place": { "type": "string" },
          "text": { "type": "string" }
        },
        "required": ["priority", "place", "text"],
        "additionalProperties": false
      }
    }
  },
  "required": ["findings"],
  "additionalProperties": false
}
JSON

# Status 1 when the turn failed: then there is no verdict, and the job fails too. The sandbox of a review is read-only.
interpreter exec --ephemeral --output-schema "$folder/schema.json" -o "$folder/review.json" review --base "$base" > /dev/null

node -e '
  const { findings } = JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8"));
  for (const { priority, place, text } of findings) console.log(`${priority} ${place}: ${text}`);
  if (findings.length === 0) console.log("No findings.");
  process.exit(findings.some(({ priority }) => priority === "P0" || priority === "P1") ? 1 : 0);
' "$folder/review.json"
