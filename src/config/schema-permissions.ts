/** `[permissions.<name>]` */
import * as z from 'zod';
import { flag, name, table, text, value } from './keys.js';

const access = () => z.enum(['read', 'write', 'deny']);
type Access = z.infer<ReturnType<typeof access>>;

/** What each place allows; the one number is `glob_scan_max_depth`. */
type Filesystem = { readonly [name: string]: Access | { readonly [below: string]: Access } | number | undefined };

const filesystem = (): z.ZodType<Filesystem> =>
  z
    .object({ glob_scan_max_depth: z.number().int().min(1).optional() })
    .catchall(z.union([access(), z.record(z.string(), access())]));

export const permissionKeys = table('', {
  description: text('What it is for.'),
  extends: name('Profile whose entries come first: a name, `:read-only`, `:workspace` or `:danger-full-access`.'),
  workspace_roots: value(
    'Folders that count as workspace beside the cwd; path = true.',
    () => z.record(z.string(), z.boolean()),
    null,
    (roots, absolute) => Object.fromEntries(Object.entries(roots).map(([root, on]) => [absolute(root), on])),
  ),
  filesystem: value(
    'Paths, or `:root`, `:minimal`, `:workspace_roots`, `:tmpdir`, `:slash_tmp` = `read`, `write`, `deny`, or a table of relative paths and globs below it. `deny` beats `write` beats `read`; the more specific path wins. `glob_scan_max_depth` = how many levels down globs are looked for; without it all.',
    filesystem,
    null,
    (entries, absolute) =>
      Object.fromEntries(
        Object.entries(entries).map(([name, one]) => [
          name.startsWith(':') || typeof one === 'number' ? name : absolute(name),
          one,
        ]),
      ),
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
