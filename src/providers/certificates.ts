/** Certificate authorities beside Node's own. */
import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';
import { type Env, messageOf } from '../util/index.js';
import { SettingsError } from './errors.js';

/**
 * The authorities to trust when SSL_CERT_FILE is set: Node's, that file's, and those of NODE_EXTRA_CA_CERTS (which an
 * explicit list would otherwise push out). undefined: Node's defaults. Throws SettingsError for an unreadable file.
 */
export function certificateAuthorities(env: Env): string[] | undefined {
  const file = env.SSL_CERT_FILE;
  if (!file) return undefined;
  const extra = env.NODE_EXTRA_CA_CERTS;
  return [...rootCertificates, read(file, 'SSL_CERT_FILE'), ...(extra ? [read(extra, 'NODE_EXTRA_CA_CERTS')] : [])];
}

function read(file: string, variable: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new SettingsError(
      `The certificate file ${file} of ${variable} can't be read (${messageOf(error)}). Correct the variable or unset it.`,
      'configuration',
      { cause: error },
    );
  }
}
