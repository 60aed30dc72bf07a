/**
 * The text of a chat answer as it streams: reasoning that a model prints in `<think>` tags is told apart, and the
 * beginning of a message is held back for as long as it may be a printed tool call.
 */
import { mayBePrintedCall } from './printed-call.js';

export type ContentPiece = { readonly kind: 'text' | 'reasoning'; readonly text: string };

const OPEN = '<think>';
const CLOSE = '</think>';

export class ContentReader {
  #state: 'start' | 'thinking' | 'held' | 'text' = 'start';
  #buffer = '';
  readonly #recover: boolean;

  /** `recover`: printed tool calls are looked for. */
  constructor(recover: boolean) {
    this.#recover = recover;
  }

  push(text: string): ContentPiece[] {
    if (this.#state === 'text') return piece('text', text);
    this.#buffer += text;
    return this.#advance();
  }

  /** What is left at the end: text that was held back, to be read as a call or shown. */
  end(): { pieces: ContentPiece[]; held: string } {
    const rest = this.#buffer;
    this.#buffer = '';
    if (this.#state === 'thinking') return { pieces: piece('reasoning', rest), held: '' };
    return { pieces: [], held: rest };
  }

  #advance(): ContentPiece[] {
    switch (this.#state) {
      case 'start': {
        const start = this.#buffer.trimStart();
        if (start.length < OPEN.length && OPEN.startsWith(start)) return [];
        if (!start.startsWith(OPEN)) return this.#become('held');
        this.#buffer = start.slice(OPEN.length);
        return this.#become('thinking');
      }
      case 'thinking':
        return this.#think();
      case 'held':
        if (this.#recover && mayBePrintedCall(this.#buffer)) return [];
        return this.#become('text');
      case 'text': {
        const text = this.#buffer;
        this.#buffer = '';
        return piece('text', text);
      }
    }
  }

  #become(state: 'thinking' | 'held' | 'text'): ContentPiece[] {
    this.#state = state;
    return this.#advance();
  }

  #think(): ContentPiece[] {
    const end = this.#buffer.indexOf(CLOSE);
    if (end >= 0) {
      const thought = this.#buffer.slice(0, end);
      this.#buffer = this.#buffer.slice(end + CLOSE.length).trimStart();
      return [...piece('reasoning', thought), ...this.#become('held')];
    }
    // A part of the closing tag may be at the end.
    const at = this.#buffer.lastIndexOf('<');
    const keep = at >= 0 && CLOSE.startsWith(this.#buffer.slice(at)) ? at : this.#buffer.length;
    const thought = this.#buffer.slice(0, keep);
    this.#buffer = this.#buffer.slice(keep);
    return piece('reasoning', thought);
  }
}

function piece(kind: 'text' | 'reasoning', text: string): ContentPiece[] {
  return text === '' ? [] : [{ kind, text }];
}
