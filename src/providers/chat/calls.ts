/** Tool calls put together from their pieces, in every way in which servers cut and number them. */
import { isObject } from '../../util/index.js';
import { newId } from '../ids.js';
import { arrayOf, numberOf, objectOf, parseJson, textOf } from '../json.js';

export type AssembledCall = {
  id: string;
  name: string;
  /** As it arrived: JSON text, perhaps cut, perhaps empty. */
  arguments: string;
  /** Fields of the call that only the service understands. */
  extra: Readonly<Record<string, unknown>>;
};

type Open = { index: number | undefined; id: string; name: string; text: string; extra: Record<string, unknown> };

const KNOWN_FIELDS = ['index', 'id', 'type', 'function'];

export class CallAssembler {
  readonly #calls: Open[] = [];
  readonly #tools: () => readonly string[];

  /** `tools`: the names that were offered. */
  constructor(tools: () => readonly string[]) {
    this.#tools = tools;
  }

  get empty(): boolean {
    return this.#calls.length === 0;
  }

  /** Takes `delta.tool_calls`. */
  add(value: unknown): void {
    const entries = isObject(value) ? [value] : arrayOf(value);
    const before = this.#calls.length;
    for (const entry of entries) if (isObject(entry)) this.#addPiece(entry, before);
  }

  /** All calls in the order in which they began; ids are made up where they are missing or taken. */
  finish(taken: Set<string>): AssembledCall[] {
    return this.#calls.map(call => {
      const id = freeId(call.id, taken);
      taken.add(id);
      return { id, name: call.name, arguments: call.text, extra: call.extra };
    });
  }

  #addPiece(piece: Readonly<Record<string, unknown>>, before: number): void {
    const fn = objectOf(piece.function);
    const [index, id, name] = [numberOf(piece.index), textOf(piece.id), textOf(fn.name)];
    let call = this.#find(index, id, name, before);
    if (call === undefined) {
      call = { index, id, name: '', text: '', extra: {} };
      this.#calls.push(call);
    }
    call.index ??= index;
    if (call.id === '') call.id = id;
    if (call.name === '' || this.#isNameCut(call, id, name)) call.name += name;
    addArguments(call, fn.arguments);
    for (const [key, value] of Object.entries(piece)) {
      if (!KNOWN_FIELDS.includes(key) && value !== null) call.extra[key] = value;
    }
  }

  /** The call that a piece continues; undefined when it begins one. */
  #find(index: number | undefined, id: string, name: string, before: number): Open | undefined {
    const last = index === undefined ? this.#calls.at(-1) : this.#calls.findLast(call => call.index === index);
    if (index === undefined && id !== '') {
      const same = this.#calls.findLast(call => call.id === id);
      // An id of its own and a name: a call of its own.
      if (same !== undefined || name !== '') return same;
    }
    if (last === undefined) return undefined;
    // Whole calls under one index differ by their ids; some servers give each piece a new id, but only the first a name.
    if (id !== '' && last.id !== '' && id !== last.id) return name === '' ? last : undefined;
    if (id !== '' && id === last.id) return last;
    if (this.#isNameCut(last, id, name)) return last;
    // A name where there is one already: the same call repeats it on each piece, a second one begins with it.
    const second = name !== '' && last.name !== '' && (name !== last.name || isComplete(last.text));
    // Entries of one chunk without numbers are calls of their own.
    const beside = index === undefined && name !== '' && this.#calls.length > before;
    return second || beside ? undefined : last;
  }

  /** Some servers cut names like arguments: neither part is the name of a tool, both together begin one. */
  #isNameCut(call: Open, id: string, name: string): boolean {
    if (call.name === '' || name === '' || call.text !== '' || (id !== '' && id !== call.id)) return false;
    const tools = this.#tools();
    return ![call.name, name].some(one => tools.includes(one)) && tools.some(tool => tool.startsWith(call.name + name));
  }
}

function addArguments(call: Open, value: unknown): void {
  if (typeof value === 'string') call.text += value;
  else if (isObject(value) && call.text === '') call.text = JSON.stringify(value);
}

function isComplete(text: string): boolean {
  return isObject(parseJson(text));
}

function freeId(id: string, taken: ReadonlySet<string>): string {
  if (id === '') return newId('call');
  let free = id;
  for (let count = 2; taken.has(free); count++) free = `${id}_${count}`;
  return free;
}
