/** The `<environment_context>` block: where and when the model works. */

export type EnvironmentFacts = {
  cwd: string;
  shell: string;
  /** YYYY-MM-DD in `timezone`. */
  current_date: string;
  timezone: string;
  /** Lines such as `read :root`, `write /w`, `read /w/.git`. */
  filesystem: { access: 'read' | 'write' | 'deny'; path: string }[];
  network: 'enabled' | 'restricted';
};

/** Today where this process runs. `timezone` is an IANA name. */
export function currentDate(now: Date, timezone: string): { current_date: string; timezone: string } {
  const pad = (n: number) => String(n).padStart(2, '0');
  return {
    current_date: `${now.getFullYear()}-${pad(now.getMonth() + 1)}-${pad(now.getDate())}`,
    timezone,
  };
}

/** The whole block, or with `before` only the fields that changed; null when none did. */
export function environmentText(facts: EnvironmentFacts, before?: EnvironmentFacts): string | null {
  const fields: [keyof EnvironmentFacts, string][] = [
    ['cwd', `  <cwd>${escapeXml(facts.cwd)}</cwd>`],
    ['shell', `  <shell>${escapeXml(facts.shell)}</shell>`],
    ['current_date', `  <current_date>${facts.current_date}</current_date>`],
    ['timezone', `  <timezone>${escapeXml(facts.timezone)}</timezone>`],
    ['network', `  <network_access>${facts.network}</network_access>`],
    ['filesystem', filesystemText(facts)],
  ];
  const changed = fields.filter(([key]) => !before || JSON.stringify(facts[key]) !== JSON.stringify(before[key]));
  if (changed.length === 0) return null;
  return `<environment_context>\n${changed.map(([, text]) => text).join('\n')}\n</environment_context>`;
}

function filesystemText(facts: EnvironmentFacts): string {
  const entries = facts.filesystem.map(
    entry => `<entry access="${entry.access}"><path>${escapeXml(entry.path)}</path></entry>`,
  );
  return `  <filesystem><workspace_roots><root>${escapeXml(facts.cwd)}</root></workspace_roots>${entries.join('')}</filesystem>`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
