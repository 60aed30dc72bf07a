/** `interpreter login`, `logout` and `login status`: keys of model providers, kept in the keyring or a file of mode 0600. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { BUILT_IN_PROVIDERS, homeDir } from '../config/index.js';
import { login, loginStatus, logout } from '../providers/index.js';
import type { Env } from '../util/index.js';
import type { Output } from './output.js';

/** Reads the key from a pipe, or asks for it on a terminal without showing it. Returns the exit code. */
export async function loginCommand(
  env: Env,
  provider: string,
  place: 'file' | undefined,
  output: Output,
): Promise<number> {
  const known = BUILT_IN_PROVIDERS[provider];
  if (!known)
    output.err(
      `${provider} is no built-in provider; the key is used once config.toml has [model_providers.${provider}].\n`,
    );
  const key = await readKey(`API key for ${known?.name ?? provider}: `);
  if (key.trim() === '') {
    output.err(`No key was given; nothing was stored. Pipe it in: printf %s "$KEY" | interpreter login ${provider}\n`);
    return 1;
  }
  const stored = await login(homeDir(env), provider, key, place);
  const where = stored === 'keyring' ? "the system's keyring" : `${homeDir(env)}/auth.json, readable by you alone`;
  output.out(`The key of ${provider} is stored in ${where}.\n`);
  return 0;
}

export async function logoutCommand(env: Env, provider: string, output: Output): Promise<number> {
  if (await logout(homeDir(env), provider)) {
    output.out(`The key of ${provider} was removed.\n`);
    return 0;
  }
  output.err(`No key of ${provider} is stored.\n`);
  return 1;
}

export async function loginStatusCommand(env: Env, json: boolean, output: Output): Promise<number> {
  const keys = await loginStatus(homeDir(env));
  if (json) output.out(`${JSON.stringify(keys)}\n`);
  else if (keys.length === 0) output.out('No keys are stored. Keys in environment variables are used as they are.\n');
  else output.out(keys.map(({ provider, place }) => `${provider}  ${place}\n`).join(''));
  return keys.length === 0 ? 1 : 0;
}

async function readKey(question: string): Promise<string> {
  if (process.stdin.isTTY !== true) {
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString('utf8').trim();
  }
  process.stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return await new Promise<string>(resolve => {
      lines.question('', resolve);
      lines.on('close', () => resolve(''));
    });
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}
