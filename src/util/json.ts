/** An object as JSON knows it: neither null nor an array. */
export function isObject(value: unknown): value is { [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON that strict readers take too: halves of surrogate pairs become U+FFFD. */
export function strictJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes('\\ud') || !/\\ud[89a-f]/.test(text)) return text;
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'string' ? Buffer.from(part).toString() : part,
  );
}
