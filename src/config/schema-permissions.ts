/** `[permissions.<name>]` */
import * as z from 'zod';
import { flag, map, name, table, text, value } from './keys.js';

const access = () => z.enum(['read', 'write', 'deny']);

export const permissionKeys = table('', {
  description: text('What it is for.'),
  extends: name('Profile whose entries come first: a name, `:read-only`, `:workspace` or `:danger-full-access`.'),
  workspace_roots: value(
    'Folders that count as workspace beside the cwd; path = true.',
    () => z.record(z.string(), z.boolean()),
    null,
    (roots, absolute) => Object.fromEntries(Object.entries(roots).map(([root, on]) => [absolute(root), on])),
  ),
  filesystem: map(
    'Entries: a path or one of `:root`, `:minimal`, `:workspace_roots`, `:tmpdir`, `:slash_tmp`.',
    'path',
    value(
      '`read`, `write` or `deny`, or a table of relative paths and globs below it. `deny` beats `write` beats `read`; the more specific path wins.',
      () => z.union([access(), z.record(z.string(), access())]),
    ),
    (name, absolute) => (name.startsWith(':') ? name : absolute(name)),
  ),
  network: table('The network.', {
    enabled: flag('Whether commands reach it.', false),
    domains: value(
      'Domain = `allow` or `deny`; `*.x` are subdomains, `**.x` with `x` itself. With entries only allowed domains are reached.',
      () => z.record(z.string(), z.enum(['allow', 'deny'])),
    ),
    dangerously_allow_all_unix_sockets: flag('Whether commands may use Unix sockets of the machine.', false),
  }),
});
