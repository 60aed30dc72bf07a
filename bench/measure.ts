/** One line of a bench's result. */
export type Row = {
  readonly label: string;
  /** One number per run, in the unit of the table. */
  readonly samples: readonly number[];
};

/** The result of a bench. The other rows are compared with the first. */
export type Table = { readonly unit: string; readonly rows: readonly Row[] };

/** What a file `bench/<name>.bench.ts` exports. */
export type Bench = { readonly name: string; readonly run: () => Promise<Table> };

/** Something to time: does one run and returns what it measured. */
export type Variant = { readonly label: string; readonly once: () => Promise<number> };

/**
 * Runs the variants in turn (A, B, A, B, ...), so that a slow moment of the machine hits all alike, after one run of
 * each that does not count.
 */
export async function interleaved(variants: readonly Variant[], runs: number): Promise<readonly Row[]> {
  const rows = variants.map(({ label }) => ({ label, samples: [] as number[] }));
  for (let run = -1; run < runs; run++) {
    for (const [index, { once }] of variants.entries()) {
      const value = await once();
      if (run >= 0) rows[index]?.samples.push(value);
    }
  }
  return rows;
}

/** Milliseconds that `work` takes. */
export async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

export function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
