/** How apply_patch is offered to models. */
import type { ToolSpec } from '../../protocol/index.js';

const GRAMMAR = `start: begin_patch hunk+ end_patch
begin_patch: "*** Begin Patch" LF
end_patch: "*** End Patch" LF?

hunk: add_hunk | delete_hunk | update_hunk
add_hunk: "*** Add File: " path LF add_line*
delete_hunk: "*** Delete File: " path LF
update_hunk: "*** Update File: " path LF change_move? (first_change change*)?

path: /[^\\n]+/
add_line: "+" /[^\\n]*/ LF
change_move: "*** Move to: " path LF
first_change: change_context* change_line+ eof_line?
change: change_context+ change_line+ eof_line?
change_context: "@@" (" " /[^\\n]+/)? LF
change_line: ("+" | "-" | " ") /[^\\n]*/ LF
eof_line: "*** End of File" LF

%import common.LF
`;

const PURPOSE =
  'Changes files: adds, edits, moves and deletes them. All of a patch is applied or, when any part does not fit, none of it.';

const FORMAT = `A patch is text of this form:

*** Begin Patch
*** Add File: path/new.txt
+each line of the new file with a plus in front
*** Update File: path/old.py
*** Move to: path/renamed.py
@@ def greet(name):
     name = name.strip()
-    print("hi " + name)
+    print(f"hello {name}")
     return name
*** Delete File: path/gone.txt
*** End Patch

- Paths are relative to the working directory. "*** Move to:" is optional.
- Lines of an update start with " " (context, stays), "-" (removed) or "+" (added). Give about three lines of context before and after a change, exactly as they are in the file.
- "@@" starts a chunk; chunks go in the order of the file. "@@ TEXT" skips to below the first line that equals TEXT (several such lines in a row narrow it down); use it when the context alone fits several places. Line numbers are not used.
- "*** End of File" behind a chunk ties it to the end of the file.
- An existing file is not overwritten by Add or Move: update it, or delete it first.`;

/** A freeform tool; wires and models without such tools are offered a function with the same text as `input`. */
export const applyPatchSpec: ToolSpec & { type: 'custom' } = {
  type: 'custom',
  name: 'apply_patch',
  description: `${PURPOSE} The input is the text of the patch alone, without a code fence or a shell command around it.\n\n${FORMAT}`,
  grammar: { syntax: 'lark', definition: GRAMMAR },
};
