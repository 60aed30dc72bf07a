/** The tools that Claude knows from its own coding agent. Chosen by `harness` alone: the native ones suit it as well. */
import { baseInstructions, LIMITS_POINT, PARALLEL_POINT } from '../base-instructions.js';
import { bash, edit, glob, grep, read, taskOutput, taskStop, todoWrite, write } from './claude-tools.js';
import type { Profile } from './profile.js';

export const claude: Profile = {
  name: 'claude',
  aliases: ['claude-code', 'claude-code-bare'],
  isDefaultFor: () => false,
  instructions: baseInstructions({
    searching: 'Glob and Grep',
    tools: `- Read a file before you change it, and change parts of it with Edit. Write is for new files and for content that is replaced as a whole. Use Bash for generated code and mass edits.
- Bash is for everything that is no reading, searching or editing. Avoid commands that wait for input. Start servers and watchers with run_in_background, look after them with TaskOutput, and end them with TaskStop when you are done.
${PARALLEL_POINT}
- For work of several steps keep the list of TodoWrite up to date; skip it for small tasks.
${LIMITS_POINT}`,
  }),
  tools: ({ images }) => [bash(), taskOutput(), taskStop(), read(images), write(), edit(), glob(), grep(), todoWrite()],
};
