/** What a patch says, read from its text. Line numbers count from 1, the line `*** Begin Patch`. */

export type PatchLine = { readonly kind: 'context' | 'remove' | 'add'; readonly text: string };

/** One place to change in a file. */
export type Chunk = {
  /** Where the chunk starts in the patch. */
  readonly line: number;
  /** Lines to find one below the other before the chunk's own lines. */
  readonly anchors: readonly string[];
  /** Line number in the file, from a header in the style `@@ -12,3 +12,4 @@`; from 1. */
  readonly fileLine: number | null;
  readonly lines: readonly PatchLine[];
  /** `*** End of File`: the chunk's lines are the last ones of the file. */
  readonly atEnd: boolean;
};

export type Hunk =
  /** `content`: "" or lines that each end in `\n`. */
  | { readonly type: 'add'; readonly path: string; readonly line: number; readonly content: string }
  | { readonly type: 'delete'; readonly path: string; readonly line: number }
  | {
      readonly type: 'update';
      readonly path: string;
      readonly line: number;
      readonly moveTo: string | null;
      /** Empty only for a plain move. */
      readonly chunks: readonly Chunk[];
    };

/** The text is no patch. `message` quotes the line where it stops being one. */
export class PatchSyntaxError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PatchSyntaxError';
  }
}
