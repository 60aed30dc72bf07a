/**
 * What was learnt about servers in earlier processes: their tools, so that the first request of a thread need not wait
 * until a slow server has started; and that a start failed, so that nobody waits for it in vain. One small file for each
 * server. Nothing here is needed: a file that is missing or broken only costs the wait.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import type { McpServerSettings } from '../protocol/index.js';
import { messageOf, replaceFile } from '../util/index.js';
import type { McpLog } from './log.js';
import type { ServerTool } from './server-tool.js';

const MAX_FILE_BYTES = 1024 * 1024;
const MAX_FILES = 200;
const OLDEST_MS = 30 * 24 * 3600_000;

export type KnownServer = {
  readonly tools: readonly ServerTool[];
  /** The last start failed. */
  readonly failed: boolean;
  /** It ends itself when it is asked for the newer protocol. */
  readonly legacy: boolean;
};

const fileSchema = z.object({
  version: z.literal(1),
  failed: z.boolean(),
  legacy: z.boolean(),
  tools: z.array(
    z.object({
      name: z.string(),
      title: z.string().nullable(),
      description: z.string().nullable(),
      input_schema: z.record(z.string(), z.unknown()),
      read_only: z.boolean(),
      destructive: z.boolean(),
      open_world: z.boolean(),
    }),
  ),
});

export class KnownTools {
  readonly #folder: string;
  readonly #log: McpLog;
  /** One after the other, so that the last word is the last one written. */
  #writing: Promise<void> = Promise.resolve();
  readonly #written = new Map<string, string>();

  constructor(home: string, log: McpLog) {
    this.#folder = path.join(home, 'state', 'mcp-tools');
    this.#log = log;
  }

  async read(settings: McpServerSettings, cwd: string): Promise<KnownServer | null> {
    const file = this.#file(settings, cwd);
    try {
      if (Date.now() - (await stat(file)).mtimeMs > OLDEST_MS) return null;
      const text = await readFile(file, 'utf8');
      const { version: _, ...known } = fileSchema.parse(JSON.parse(text));
      this.#written.set(file, text);
      return known;
    } catch {
      // Never seen, or written by another version: it is learnt again.
      return null;
    }
  }

  write(settings: McpServerSettings, cwd: string, known: KnownServer): void {
    const file = this.#file(settings, cwd);
    const text = JSON.stringify({ version: 1, ...known });
    if (this.#written.get(file) === text || text.length > MAX_FILE_BYTES) return;
    this.#written.set(file, text);
    this.#writing = this.#writing
      .then(() => this.#write(file, text))
      .catch((error: unknown) => this.#log('debug', `${file} can't be written: ${messageOf(error)}`));
  }

  /** Resolves when everything is written. */
  flushed(): Promise<void> {
    return this.#writing;
  }

  async #write(file: string, text: string): Promise<void> {
    await replaceFile(file, text);
    const files = await readdir(this.#folder);
    if (files.length > MAX_FILES) await this.#removeOldest(files);
  }

  async #removeOldest(names: readonly string[]): Promise<void> {
    const files = await Promise.all(
      names.map(async name => {
        const file = path.join(this.#folder, name);
        return { file, at: (await stat(file)).mtimeMs };
      }),
    );
    const oldest = files.toSorted((a, b) => a.at - b.at).slice(0, names.length - MAX_FILES / 2);
    await Promise.all(oldest.map(({ file }) => rm(file, { force: true })));
  }

  /** By what is started, not by its environment, which differs from terminal to terminal; a digest keeps secrets out. */
  #file({ name, transport }: McpServerSettings, cwd: string): string {
    const what =
      transport.type === 'stdio'
        ? [transport.command, transport.args, transport.cwd ?? cwd]
        : [transport.url, Object.keys(transport.http_headers)];
    const digest = createHash('sha256')
      .update(JSON.stringify([name, ...what]))
      .digest('hex');
    return path.join(this.#folder, `${digest.slice(0, 32)}.json`);
  }
}
