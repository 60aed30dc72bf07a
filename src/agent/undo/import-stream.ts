/** The input of `git fast-import`: objects and commits without an index, a work tree or a filter. */
import { type GitPath, pathBytes } from './git.js';
import type { FileMode } from './work-file.js';

/** git knows these trees without having them. */
const EMPTY_TREES = [
  '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
];

export class ImportStream {
  readonly #parts: Buffer[] = [Buffer.from('feature done\n')];
  #marks = 0;

  /** A commit; its changes follow. `from`: its parent, a commit id or a mark. Returns its mark. */
  commit(ref: string, message: string, from: string | null): string {
    const mark = `:${++this.#marks}`;
    const seconds = Math.floor(Date.now() / 1000);
    this.#line(`commit ${ref}\nmark ${mark}\ncommitter Open Interpreter <> ${seconds} +0000`);
    this.#data(Buffer.from(message));
    if (from !== null) this.#line(`from ${from}`);
    return mark;
  }

  tree(id: string): void {
    this.#line(EMPTY_TREES.includes(id) ? 'deleteall' : `M 040000 ${id} ""`);
  }

  remove(name: GitPath): void {
    this.#parts.push(Buffer.from('D '), quoted(name));
  }

  /** `content`: the bytes, or the id of an object that is there. */
  file(name: GitPath, mode: FileMode, content: Buffer | string): void {
    const inline = typeof content !== 'string';
    this.#parts.push(Buffer.from(`M ${mode} ${inline ? 'inline' : content} `), quoted(name));
    if (inline) this.#data(content);
  }

  /** The whole stream; it prints the id of the commit with this mark. */
  end(mark: string): Buffer {
    return Buffer.concat([...this.#parts, Buffer.from(`\nget-mark ${mark}\ndone\n`)]);
  }

  #line(text: string): void {
    this.#parts.push(Buffer.from(`${text}\n`));
  }

  #data(bytes: Buffer): void {
    this.#parts.push(Buffer.from(`data ${bytes.length}\n`), bytes, Buffer.from('\n'));
  }
}

function quoted(name: GitPath): Buffer {
  const escaped = name.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
  return pathBytes(`"${escaped}"\n`);
}
