/** The last line of a terminal: what goes on at this moment. Everything else is written above it. */
import type { WriteStream } from 'node:tty';
import { stripVTControlCharacters } from 'node:util';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const EVERY_MS = 120;
const CLEAR = '\r\u001b[2K';

export class StatusLine {
  readonly #terminal: Pick<WriteStream, 'write' | 'columns'>;
  readonly #text: () => string;
  readonly #timer: NodeJS.Timeout;
  #frame = 0;
  #shown = false;

  /** `text` is asked for each time the line is drawn; it is cut to the width of the terminal. */
  constructor(terminal: Pick<WriteStream, 'write' | 'columns'>, text: () => string) {
    this.#terminal = terminal;
    this.#text = text;
    this.#timer = setInterval(() => this.#draw(), EVERY_MS);
    this.#timer.unref();
  }

  /** Writes above the line. */
  write(text: string): void {
    this.#terminal.write(`${this.#shown ? CLEAR : ''}${text}`);
    this.#shown = false;
  }

  stop(): void {
    clearInterval(this.#timer);
    if (this.#shown) this.#terminal.write(CLEAR);
    this.#shown = false;
  }

  #draw(): void {
    this.#frame = (this.#frame + 1) % FRAMES.length;
    const width = Math.max(10, (this.#terminal.columns || 80) - 3);
    const text = stripVTControlCharacters(this.#text()).replace(/\s+/g, ' ');
    const cut = text.length > width ? `${text.slice(0, width - 1)}…` : text;
    this.#terminal.write(`${CLEAR}${FRAMES[this.#frame]} ${cut}`);
    this.#shown = true;
  }
}
