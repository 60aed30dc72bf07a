/** Why a text is not in a file, in words that let the model send the right one. */
import { closestPlace, FileLines, quoteLine } from './apply-patch/index.js';

const NUMBERED = /^\s*\d+(?:\t|→|: )/;

export function explainMissing(bytes: Buffer, text: string, name: string): string {
  const lines = new FileLines(bytes);
  const wanted = text.split(/\r?\n/);
  const report = [`old_string is not in ${name}.`];
  if (lines.count === 0) return `${report[0]} The file is empty`;
  if (wanted.filter(line => line !== '').every(line => NUMBERED.test(line))) {
    report.push('Leave out the line numbers in front of the lines: they are not in the file.');
  }
  const place = closestPlace(lines, wanted, 0);
  const different = place === null ? -1 : firstDifference(lines, wanted, place);
  if (place === null || different < 0) return report.join(' ');
  const at = place + different;
  return [
    `${report.join(' ')} The closest place starts at line ${Math.max(place, 0) + 1}; first difference, line ${at + 1}:`,
    `  expected: ${quoteLine(wanted[different] ?? '')}`,
    `  found:    ${at < 0 || at >= lines.count ? '(nothing)' : quoteLine(lines.text(at))}`,
  ].join('\n');
}

/** The first and the last line of the text may be parts of lines. */
function firstDifference(lines: FileLines, wanted: readonly string[], place: number): number {
  return wanted.findIndex((line, i) => {
    const at = place + i;
    if (at < 0 || at >= lines.count) return !(line === '' && i === wanted.length - 1);
    const text = lines.text(at);
    if (wanted.length === 1) return !text.includes(line);
    if (i === 0) return !text.endsWith(line);
    return i === wanted.length - 1 ? !text.startsWith(line) : text !== line;
  });
}
