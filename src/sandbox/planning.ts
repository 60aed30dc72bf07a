/** Plans as data: what a policy comes to on this disk, and what would be asked of the platform for it. */
export { mountPointsOf, type PlanFacts, planBwrap, planInnerBwrap } from './bwrap-plan.js';
export { isWsl1, platformProblem } from './enforcement.js';
export { globDepth, globToRegExp } from './glob.js';
export type { Layout, PathRule } from './layout.js';
export { readLayout } from './read-layout.js';
export { type SeatbeltProfile, seatbeltProfile } from './seatbelt.js';
