import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Past this a command counts as hung. */
const commandMsMax = 60_000;

export type Ran = { readonly printed: string; readonly status: number };

/** One shell that is given a page's commands one after another, as its reader would: variables and functions stay. */
export class Shell {
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  #printed = '';
  #arrived: () => void = () => undefined;
  #commands = 0;

  constructor(folder: string) {
    this.#child = spawn('/bin/sh', ['-c', 'unset NODE_OPTIONS; exec /bin/sh'], {
      cwd: folder,
      env: { PATH: process.env['PATH'] },
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true,
    });
    this.#closed = once(this.#child, 'close');
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#printed += text;
      this.#arrived();
    });
    this.#write('exec 2>&1');
  }

  /** Runs `command` to its end. */
  async run(command: string): Promise<Ran> {
    const marker = this.#next();
    this.#write(`${command}\nprintf '\\n${marker} %d\\n' "$?"`);
    const ended = new RegExp(`\\n${marker} (\\d+)\\n`, 'u');
    await this.#until(command, () => ended.test(this.#printed));
    const found = ended.exec(this.#printed);
    return { printed: this.#printed.slice(0, found?.index), status: Number(found?.[1]) };
  }

  /** Runs a command that does not end by itself until it has printed `enough`, and then ends it. */
  async runUntil(command: string, enough: (printed: string) => boolean): Promise<string> {
    const marker = this.#next();
    this.#write(`${command} &`);
    await this.#until(command, () => enough(this.#printed));
    const printed = this.#printed;
    this.#write(`kill $!; wait $! 2>/dev/null; printf '\\n${marker}\\n'`);
    await this.#until(command, () => this.#printed.includes(`\n${marker}\n`));
    return printed;
  }

  /** Ends it and whatever it still runs: they are one process group. */
  async close(): Promise<void> {
    if (this.#child.pid !== undefined && this.#child.exitCode === null) process.kill(-this.#child.pid, 'SIGKILL');
    await this.#closed;
  }

  #next(): string {
    this.#printed = '';
    this.#commands += 1;
    return `--- command ${this.#commands.toString()} has ended with`;
  }

  #write(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  async #until(command: string, done: () => boolean): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const hung = setTimeout(() => {
        reject(new Error(`${command}\ndid not get where it should; it printed\n${this.#printed}`));
      }, commandMsMax);
      const look = (): void => {
        if (!done()) return;
        clearTimeout(hung);
        resolve();
      };
      this.#arrived = look;
      look();
    });
  }
}
