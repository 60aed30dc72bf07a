/** The functions that make diffs. They and the package behind them are loaded when they are first wanted. */
export const loadDiffs = () => import('./git-diff.js');
