/** Stands in the name of a group of tests that was skipped, before the reason and a "]". */
export const SKIP_MARK = '[skipped: ';
