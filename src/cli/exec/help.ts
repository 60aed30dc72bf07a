/** What `--help` says below the options. */

export const EXEC_HELP = `
Prompt and standard input:
  A prompt as an argument is used as it is. Without one, or with -, the prompt is what standard input holds. When there
  is both, piped text is added below the prompt between <stdin> and </stdin>; an open pipe that stays silent is waited
  for one second. A prompt that begins with a dash, or that follows -i, stands behind --.

Output:
  Standard output holds the answer and nothing else, or with --json one event per line. Everything else goes to standard
  error: the settings, what is done, the diff of all patches, tokens and, where the price is known, cost. On a terminal
  the last line shows what goes on; NO_COLOR and --color never turn colours off.

Approvals and sandbox:
  Nobody is asked: the approval policy is "never" whatever the configuration says, and what would need approval is
  refused. With --approvals-fd the configured policy holds and questions go to the caller. Without -s or configuration
  the sandbox is workspace-write in a git work tree, else read-only.

Exit status:
  0   the turn was completed, whatever its commands returned
  1   the turn failed or was interrupted, or could not begin
  2   the command line is wrong

Signals:
  SIGINT, SIGTERM and SIGHUP end commands and the request to the model, and the process within two seconds; the thread
  can be resumed. The same happens when nobody reads standard output any more.

Environment:
  INTERPRETER_HOME    home of configuration and threads; default ~/.openinterpreter
  CODEX_API_KEY       key for the provider openai; goes before OPENAI_API_KEY
  INTERPRETER_LOG     error, warn, info, debug or trace: what is logged to standard error
  NO_COLOR            no colours

Files:
  INTERPRETER_HOME/config.toml          configuration, see docs/config.md
  INTERPRETER_HOME/<name>.config.toml   the profile that -p names
  INTERPRETER_HOME/sessions/            one file per thread

Examples:
  interpreter exec "explain what this repository does"
  git diff | interpreter exec "write a commit message"
  interpreter exec -s workspace-write --json "make the tests pass" > events.jsonl
  interpreter exec --output-schema schema.json -o answer.json "list all public functions"
  interpreter exec resume --last "now add tests for it"
  interpreter exec review --base main
`;

export const RESUME_HELP = `
The thread goes on with the present configuration and options: model, sandbox and directory are not those it was started
with. Options of exec stand before "resume", those above may stand on either side.

Examples:
  interpreter exec resume --last "now add tests"
  interpreter exec resume 01a22728-edd7-72e1-a004-b508dc2ec8f3 < prompt.txt
  interpreter exec -s read-only resume --last --all "what did you change?"
`;

export const FORK_HELP = `
Examples:
  interpreter exec fork 01a22728-edd7-72e1-a004-b508dc2ec8f3 "try it the other way"
  interpreter exec --json fork 01a22728-edd7-72e1-a004-b508dc2ec8f3
`;

export const REVIEW_HELP = `
The model gets the diff with the prompt and may look at the rest of the code. Git is run so that nothing of the
repository is executed: no hooks, filters, external diffs or pagers. review_model in config.toml names the model.

Examples:
  interpreter exec review --uncommitted
  interpreter exec review --base main "the new cache must be safe for several processes"
  interpreter exec review --commit HEAD --output-schema findings.schema.json
`;
