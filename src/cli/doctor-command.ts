/** `interpreter doctor`: whether turns would work here, and what to do where they would not. */
import type { LoadOptions } from '../config/index.js';
import type { Check, CheckStatus, Report } from './doctor/check.js';
import { examine } from './doctor/examine.js';
import type { Output } from './output.js';

export type DoctorOptions = {
  readonly load: LoadOptions;
  readonly online: boolean;
  readonly json: boolean;
  readonly colors: boolean;
};

/** Returns the exit status: 1 when turns would fail. */
export async function doctorCommand({ load, online, json, colors }: DoctorOptions, output: Output): Promise<number> {
  const report = await examine({ load, online });
  output.out(json ? `${JSON.stringify(report, null, 2)}\n` : await reportText(report, colors));
  return report.ok ? 0 : 1;
}

/** A line for each check; below one that is not as it should be, what to do. */
export async function reportText(report: Report, colors: boolean): Promise<string> {
  const { default: picocolors } = await import('picocolors');
  const paint = picocolors.createColors(colors);
  const painted: Record<CheckStatus, (text: string) => string> = {
    ok: paint.green,
    warn: paint.yellow,
    fail: paint.red,
    skipped: paint.dim,
  };
  const width = Math.max(...report.checks.map(({ id }) => id.length));
  const indent = ' '.repeat('skipped'.length + width + 4);
  const line = ({ id, status, detail, fix }: Check) => {
    const text = detail.replaceAll('\n', `\n${indent}`);
    const first = `${painted[status](status.padEnd('skipped'.length))}  ${id.padEnd(width)}  ${text}`;
    return fix === undefined ? first : `${first}\n${indent}${paint.bold('→')} ${fix}`;
  };
  const head = `interpreter ${report.version}, ${report.platform}`;
  const end = report.ok ? 'Turns can be run here.' : 'Turns would fail here.';
  return `${[head, ...report.checks.map(line), end].join('\n')}\n`;
}
