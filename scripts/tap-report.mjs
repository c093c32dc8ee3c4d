/**
 * Reads a TAP stream line by line. A test point with a subtest only summarizes the subtest. Therefore the report counts
 * points without a subtest (assertions). It also counts a failed point if its subtest has no failed point (a crash, a
 * time-out or a wrong plan).
 */
const directive = /(?: # (?<directive>time=\S+|SKIP.*|TO[D]O.*))?/u.source;
const point = new RegExp(
  `^(?<indent> *)(?<not>not )?ok (?<number>\\d+)(?: - (?<name>.*?))?${directive}(?<open> \\{)?$`,
  'u',
);
const subtest = /^(?<indent> *)# Subtest(?:: (?<name>.*))?$/u;
const emptyFile = /^1\.\.0(?: #.*)?$/u;

export class Report {
  passed = 0;
  failed = 0;
  filesSeen = 0;
  skips = [];
  /**
   * The open subtests, outermost first: the name, whether one of its points has failed, and whether the subtest is a
   * file without tests.
   */
  #open = [];
  /** The indentation of the failed point to which the following diagnostics belong. */
  #diagnosed;
  #inSources;

  /** `inSources` replaces the places in compiled files with places in the sources, in one line of diagnostics. */
  constructor(inSources = (line) => line) {
    this.#inSources = inSources;
  }

  get #points() {
    return this.passed + this.failed + this.skips.length;
  }

  /** Reads the whole stream of one file. `ended` is the exit code or the signal of the process. */
  readFile(file, { output, ended, ms }) {
    this.read(`# Subtest: ${file}`);
    const before = this.#points;
    for (const line of output.split('\n')) this.read(`    ${line}`);
    if (this.#points === before) this.read('    1..0');
    this.read(`${ended === 0 ? '' : 'not '}ok 1 - ${file} # time=${ms.toFixed(0)}ms`);
    if (ended !== 0) for (const line of ['  ---', `  ended: ${String(ended)}`, '  ...']) this.read(line);
  }

  read(line) {
    if (this.#diagnose(line)) return;
    const opened = subtest.exec(line);
    if (opened !== null) {
      this.#enter(opened.groups.indent.length / 4, opened.groups.name ?? '');
      return;
    }
    const found = point.exec(line);
    if (found !== null) this.#count(found.groups);
    else if (emptyFile.test(line.trim()) && this.#open.length === 1) this.#open[0].empty = true;
  }

  #enter(depth, name) {
    this.#open.length = Math.min(this.#open.length, depth);
    this.#open[depth] = { name, failed: false, empty: false };
  }

  #count({ indent, not, name = '', directive = '' }) {
    const depth = indent.length / 4;
    const inside = this.#open[depth];
    this.#open.length = Math.min(this.#open.length, depth);
    const place = [...this.#open.map((outer) => outer?.name), name].join(' > ');
    if (depth === 0) this.#fileEnded(name, not === undefined, directive, inside);
    if (/^(?:SKIP|TO[D]O)/u.test(directive)) this.#skipped(place, directive, inside);
    else if (not !== undefined) this.#failedAt(place, depth, inside);
    else if (inside === undefined) this.passed += 1;
  }

  #skipped(place, directive, inside) {
    if (inside?.empty !== true) this.skips.push(`${place}: ${directive.replace(/^SKIP\s*/u, '') || 'no reason given'}`);
  }

  #failedAt(place, depth, inside) {
    for (const outer of this.#open) outer.failed = true;
    if (inside?.failed === true) return;
    this.failed += 1;
    console.log(`\nFAILED ${place}`);
    this.#diagnosed = depth * 4;
  }

  #fileEnded(name, ok, directive, inside) {
    this.filesSeen += 1;
    const empty = ok && inside?.empty === true;
    console.log(
      `${ok && !empty ? 'ok  ' : 'FAIL'} ${name} ${directive.startsWith('time=') ? directive.slice(5) : directive}`,
    );
    if (empty) {
      this.failed += 1;
      console.log(`FAILED ${name}: the file ran no test`);
    }
  }

  /** Prints a line of the YAML block after a failed point. Returns whether the line belongs to such a block. */
  #diagnose(line) {
    if (this.#diagnosed === undefined) return false;
    const text = line.slice(this.#diagnosed + 2);
    if (text.startsWith('---') || line.trim() === '') return true;
    if (!line.startsWith(' '.repeat(this.#diagnosed + 2)) || text === '...') {
      this.#diagnosed = undefined;
      return text === '...';
    }
    console.log(`  ${this.#inSources(text)}`);
    return true;
  }
}
