/** Takes secrets out of texts that leave the process or are kept in files. */
import type { Env } from '../util/index.js';

/** Replaces what is secret; the rest of the text stays as it is. */
export type Redactor = (text: string) => string;

export const REDACTED = '[REDACTED]';

export type RedactorOptions = {
  /** Variables whose name says that their value is secret are taken out wherever the value turns up. */
  readonly env: Env;
  /** More values to take out, e.g. of headers in the configuration. */
  readonly secrets?: readonly string[];
};

/** Shorter values turn up by chance. */
const MIN_SECRET = 8;
const MAX_REMEMBERED = 128;
const MAX_KNOWN = 2000;

export function createRedactor({ env, secrets = [] }: RedactorOptions): Redactor {
  const named = Object.entries(env).flatMap(([name, value]) =>
    isSecretName(name) ? [value ?? '', ...headerValues(value)] : [],
  );
  const known = [...new Set([...named, ...secrets])]
    .filter(value => value.length >= MIN_SECRET && !/^[\d.]+$/.test(value))
    // One that contains another has to go first.
    .sort((a, b) => b.length - a.length)
    .map(escaped);
  const values = known.length === 0 ? null : new RegExp(known.join('|'), 'g');
  return text => {
    let result = values === null ? text : text.replace(values, REDACTED);
    for (const [pattern, replacement] of PATTERNS) result = result.replace(pattern, replacement);
    return result;
  };
}

/** The same for many short texts that come again and again: names, words, ids. */
export function remembering(redact: Redactor): Redactor {
  const known = new Map<string, string>();
  return text => {
    if (text.length > MAX_REMEMBERED) return redact(text);
    const before = known.get(text);
    if (before !== undefined) return before;
    const result = redact(text);
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(text, result);
    return result;
  };
}

/** True for names of variables, headers and keys whose value is a secret. */
export function isSecretName(name: string): boolean {
  return (
    /key|secret|token|passw|passphrase|credential|authorization|cookie|otlp_(\w+_)?headers$/i.test(name) &&
    !/_(file|path)$|token_(limit|count)|max_tokens|keymap|keyboard/i.test(name)
  );
}

/** The single values of a list such as OTEL_EXPORTER_OTLP_HEADERS, `name=value,name=value`. */
function headerValues(list: string | undefined): string[] {
  if (list === undefined || !list.includes('=')) return [];
  return list.split(',').map(pair => decoded(pair.slice(pair.indexOf('=') + 1).trim()));
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    // No percent-encoding after all: it is what it looks like.
    return value;
  }
}

const escaped = (value: string) => value.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');

/** What keys look like, wherever they come from. */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, REDACTED],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g, REDACTED],
  [/\b(?:sk|pk|rk)[-_](?!learn|image)[\w-]{16,}/g, REDACTED],
  [/\b(?:gh[opusr]_|github_pat_|glpat-|hf_|gsk_|xai-|npm_|pypi-|r8_|dop_v1_|lsv2_|fw_|nvapi-)[\w-]{16,}/g, REDACTED],
  [/\bxox[a-z]-[\w-]{10,}/g, REDACTED],
  [/\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g, REDACTED],
  [/\bAIza[\w-]{30,}/g, REDACTED],
  [/\bya29\.[\w-]{16,}/g, REDACTED],
  [/\bSG\.[\w-]{16,}\.[\w-]{16,}/g, REDACTED],
  [/\b(Bearer|Basic)(\s+)[\w+/.=~-]{8,}/gi, `$1$2${REDACTED}`],
  [/(:\/\/)[^\s/@:"']*:[^\s/@"']+@/g, `$1${REDACTED}@`],
  [/([?&](?:key|sig|signature|auth|code)=)[^&\s"'#]+/gi, `$1${REDACTED}`],
  // `api_key = "…"`, `"client_secret": "…"`, `X-Auth-Token: …`; numbers, flags and names of variables stay.
  [
    /([\w.-]*(?:api[-_]?key|access[-_]?key|private[-_]?key|secret|token|passw(?:or)?d|passphrase|credential|authorization|cookie)[\w.-]{0,24}\\?["']?\s*[:=]\s*\\?["']?)(?!\d+(?:\.\d+)?\b|true\b|false\b|null\b|none\b|env:|\[REDACTED\])[^\s"',;&}\\]{6,}/gi,
    `$1${REDACTED}`,
  ],
];
