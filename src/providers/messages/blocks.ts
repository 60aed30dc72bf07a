/** One content block of a Messages stream, put together from its deltas. */
import { isObject } from '../../util/index.js';
import { arrayOf, type JsonObject, objectOf, parseJson, textOf } from '../json.js';
import type { Block } from './messages.js';

export class OpenBlock {
  readonly type: string;
  readonly #start: JsonObject;
  #text: string;
  #signature: string;
  #json = '';
  readonly #citations: unknown[];

  constructor(start: JsonObject) {
    this.#start = start;
    this.type = textOf(start.type);
    this.#text = textOf(start.text) || textOf(start.thinking);
    this.#signature = textOf(start.signature);
    this.#citations = [...arrayOf(start.citations)];
  }

  /** Text that came with the start. */
  get initialText(): string {
    return this.#text;
  }

  /** Takes a delta; gives the text it adds, for text and thinking. */
  add(delta: JsonObject): string {
    switch (delta.type) {
      case 'text_delta':
        return this.#addText(textOf(delta.text));
      case 'thinking_delta':
        return this.#addText(textOf(delta.thinking));
      case 'signature_delta':
        this.#signature += textOf(delta.signature);
        return '';
      case 'input_json_delta':
        this.#json += textOf(delta.partial_json);
        return '';
      case 'citations_delta':
        this.#citations.push(delta.citation);
        return '';
      default:
        return '';
    }
  }

  /** JSON text of the input of a call, as it arrived; "" when nothing did. */
  get inputText(): string {
    if (this.#json !== '') return this.#json;
    const { input } = this.#start;
    return isObject(input) && Object.keys(input).length > 0 ? JSON.stringify(input) : textOf(input);
  }

  get hasCitations(): boolean {
    return this.#citations.length > 0;
  }

  /** The block as it must be sent back. */
  finish(): Block {
    switch (this.type) {
      case 'text':
        return { type: 'text', text: this.#text, ...(this.hasCitations ? { citations: this.#citations } : {}) };
      case 'thinking':
        return { ...this.#start, type: 'thinking', thinking: this.#text, signature: this.#signature };
      default:
        return {
          ...this.#start,
          type: this.type,
          ...(this.#json === '' ? {} : { input: objectOf(parseJson(this.#json)) }),
        };
    }
  }

  #addText(text: string): string {
    this.#text += text;
    return text;
  }
}
