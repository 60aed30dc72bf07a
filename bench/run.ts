/** `npm run bench -- <name>...`: runs benches and prints medians and ratios. Without a name it lists them. */
import { readdir } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { type Bench, median, type Table } from './measure.js';

async function main(names: readonly string[]): Promise<void> {
  const benches = await loadBenches();
  const known = benches.map(bench => bench.name);
  const unknown = names.filter(name => !known.includes(name));
  if (names.length === 0 || unknown.length > 0) {
    if (unknown.length > 0) console.error(`No such bench: ${unknown.join(', ')}`);
    console.error(`usage: npm run bench -- <name>...\nnames: ${known.join(', ')}`);
    process.exitCode = 2;
    return;
  }
  console.log(`Node ${process.version}, ${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores`);
  for (const { name, run } of benches.filter(bench => names.includes(bench.name))) print(name, await run());
}

async function loadBenches(): Promise<readonly Bench[]> {
  const files = (await readdir(import.meta.dirname)).filter(file => file.endsWith('.bench.ts')).sort();
  return Promise.all(files.map(async file => (await import(`./${file}`)) as Bench));
}

function print(name: string, { unit, rows }: Table): void {
  const width = Math.max(...rows.map(({ label }) => label.length));
  const base = median(rows[0]?.samples ?? []);
  console.log(`\n${name} (${unit}; median, lowest, ratio to the first, runs)`);
  for (const { label, samples } of rows) {
    const middle = median(samples);
    const cells = [middle.toFixed(1), Math.min(...samples).toFixed(1), (middle / base).toFixed(2), samples.length];
    console.log(`  ${label.padEnd(width)} ${cells.map(cell => String(cell).padStart(9)).join('')}`);
  }
}

await main(process.argv.slice(2));
