/** Variables by name, as a process has them. */
export type Env = Readonly<Record<string, string | undefined>>;

/** Those that are set, as a program is given them. */
export function setVariables(env: Env): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
