/** From what is to be reviewed to the prompt of the turn. */
import { ExitError } from '../exit-error.js';
import type { ReviewSubject } from './exec-job.js';
import { GitError, type GitOptions, openGit } from './guarded-git.js';
import { reviewDiff } from './review-diff.js';
import { reviewPrompt } from './review-prompt.js';

/** Throws ExitError when git can't give the change. */
export async function prepareReview(
  options: GitOptions & { readonly subject: ReviewSubject; readonly instructions: string | null },
): Promise<string> {
  const { subject, instructions } = options;
  if (subject.type === 'custom') return reviewPrompt(null, instructions);
  try {
    return reviewPrompt(await reviewDiff(await openGit(options), subject), instructions);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    const what = error.exitCode === null ? "git can't be run" : 'there is nothing to review';
    throw new ExitError(1, `Error: ${what}: ${error.message}`);
  }
}
