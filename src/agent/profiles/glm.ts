/** GLM works with the names and arguments of Claude's tools, and searches with commands. */
import { familyOf } from '../../providers/index.js';
import { baseInstructions, LIMITS_POINT, PARALLEL_POINT } from '../base-instructions.js';
import { bash, edit, read, taskOutput, taskStop, todoWrite, write } from './claude-tools.js';
import type { Profile } from './profile.js';

export const glm: Profile = {
  name: 'glm',
  aliases: ['zcode'],
  isDefaultFor: modelId => familyOf(modelId) === 'glm',
  instructions: baseInstructions({
    searching: '`rg` and `rg --files`',
    tools: `- Read a file before you change it, and change parts of it with Edit. Write is for new files and for content that is replaced as a whole. Use Bash for generated code and mass edits.
- Avoid commands that wait for input. Start servers and watchers with run_in_background, look after them with TaskOutput, and end them with TaskStop when you are done.
${PARALLEL_POINT}
- For work of several steps keep the list of TodoWrite up to date; skip it for small tasks.
${LIMITS_POINT}`,
  }),
  tools: ({ images }) => [bash(), taskOutput(), taskStop(), read(images), write(), edit(), todoWrite()],
};
