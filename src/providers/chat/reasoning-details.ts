/** OpenRouter's `reasoning_details`, which come in pieces and go back whole. */
import { isObject } from '../../util/index.js';
import { arrayOf, type JsonObject, numberOf } from '../json.js';

const TEXT_FIELDS = ['text', 'summary', 'data'];

export class ReasoningDetails {
  readonly #details: { [field: string]: unknown }[] = [];

  /** Takes `delta.reasoning_details`. */
  add(value: unknown): void {
    for (const piece of arrayOf(value)) if (isObject(piece)) this.#addPiece(piece);
  }

  /** The whole list, or undefined when there is none. */
  finish(): readonly unknown[] | undefined {
    return this.#details.length > 0 ? this.#details : undefined;
  }

  #addPiece(piece: JsonObject): void {
    const index = numberOf(piece.index);
    const last = this.#details.at(-1);
    if (index === undefined || last === undefined || last.index !== index || last.type !== piece.type) {
      this.#details.push({ ...piece });
      return;
    }
    for (const [field, value] of Object.entries(piece)) {
      const known = last[field];
      if (TEXT_FIELDS.includes(field) && typeof known === 'string' && typeof value === 'string')
        last[field] = known + value;
      else if (value !== null) last[field] = value;
    }
  }
}
