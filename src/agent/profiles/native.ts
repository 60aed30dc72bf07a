/** The product's own tools; also for every model that nothing is known about. */
import {
  applyPatchTool,
  execCommandTool,
  shellCommandTool,
  updatePlanTool,
  viewImageTool,
  writeStdinTool,
} from '../../tools/index.js';
import { BASE_INSTRUCTIONS } from '../base-instructions.js';
import type { Profile } from './profile.js';

export const native: Profile = {
  name: 'native',
  aliases: [],
  isDefaultFor: () => true,
  instructions: BASE_INSTRUCTIONS,
  tools: ({ images, sessions }) => [
    ...(sessions ? [execCommandTool, writeStdinTool] : [shellCommandTool]),
    updatePlanTool,
    applyPatchTool,
    ...(images ? [viewImageTool] : []),
  ],
};
