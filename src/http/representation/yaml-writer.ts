import { quoted, yamlKey, yamlScalar } from './yaml-scalar.ts';

/** An object or array that has not ended. */
type Level = {
  readonly isObject: boolean;
  /** The column of the entries. */
  readonly indent: number;
  readonly parent: 'none' | 'member' | 'element';
  count: number;
  /** Whether the next token is a key of the object. */
  expectsKey: boolean;
};

/**
 * Objects and arrays at this depth and below are written as JSON, which is valid YAML. Deeper indentation would
 * multiply the size.
 */
const blockDepthMax = 12;

const quote = 0x22,
  backslash = 0x5c;

/**
 * Writes JSON as YAML in block style, piece by piece. Stores only the open levels and an incomplete token, so a
 * document of any length can be streamed.
 */
export class YamlWriter {
  readonly #levels: Level[] = [];
  /** The beginning of a token that continues in the next piece. */
  #rest: Buffer = Buffer.alloc(0);
  /** The scanned length of `#rest`, if `#rest` is an incomplete string. */
  #scanned = 0;
  #text = '';
  /** The number of open objects and arrays below the deepest level in block style. */
  #deeper = 0;

  /** Writes the next piece of the JSON. A piece may end anywhere. */
  write(piece: Uint8Array): Buffer {
    const bytes = this.#rest.length === 0 ? bufferOf(piece) : Buffer.concat([this.#rest, piece]);
    let at = 0;
    while (at < bytes.length) {
      const next = this.#token(bytes, at);
      if (next === undefined) break;
      at = next;
    }
    this.#rest = Buffer.from(bytes.subarray(at));
    return this.#taken();
  }

  /**
   * Completes the document. A number at the end of the document is written only now, because more digits could have
   * followed.
   */
  end(): Buffer {
    if (this.#rest.length > 0) this.#scalar(this.#rest.toString('utf8'));
    this.#rest = Buffer.alloc(0);
    return this.#taken();
  }

  #taken(): Buffer {
    const text = this.#text;
    this.#text = '';
    return Buffer.from(text);
  }

  /** Returns the offset after the token; undefined if the token continues in the next piece. */
  #token(bytes: Buffer, at: number): number | undefined {
    const byte = bytes[at] ?? 0;
    if (isSpace(byte) || this.#isStructure(byte)) return at + 1;
    return byte === quote ? this.#string(bytes, at) : this.#word(bytes, at);
  }

  /** Handles a byte outside of strings, numbers and literals. Returns false for any other byte. */
  #isStructure(byte: number): boolean {
    if (this.#deeper > 0) return this.#asJson(byte);
    switch (byte) {
      case 0x7b:
        this.#open(true);
        return true;
      case 0x5b:
        this.#open(false);
        return true;
      case 0x7d:
      case 0x5d:
        this.#close();
        return true;
      case 0x2c:
        this.#comma();
        return true;
      default:
        return byte === 0x3a;
    }
  }

  #string(bytes: Buffer, start: number): number | undefined {
    let at = start + Math.max(this.#scanned, 1);
    while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
    this.#scanned = at >= bytes.length ? at - start : 0;
    if (at >= bytes.length) return undefined;
    this.#scalar(bytes.toString('utf8', start, at + 1));
    return at + 1;
  }

  #word(bytes: Buffer, start: number): number | undefined {
    // Skips the first byte even if JSON does not allow it, so that the offset always increases.
    let at = start + 1;
    while (at < bytes.length && !isDelimiter(bytes[at] ?? 0)) at += 1;
    if (at === bytes.length) return undefined;
    this.#scalar(bytes.toString('latin1', start, at));
    return at;
  }

  /** Handles a byte below the deepest level in block style, where values are written as JSON. */
  #asJson(byte: number): boolean {
    switch (byte) {
      case 0x7b:
      case 0x5b:
        this.#deeper += 1;
        this.#text += String.fromCharCode(byte);
        return true;
      case 0x7d:
      case 0x5d:
        this.#deeper -= 1;
        this.#text += `${String.fromCharCode(byte)}${this.#deeper === 0 ? '\n' : ''}`;
        return true;
      case 0x2c:
      case 0x3a:
        this.#text += `${String.fromCharCode(byte)} `;
        return true;
      default:
        return false;
    }
  }

  #scalar(json: string): void {
    if (this.#deeper > 0) {
      this.#text += quoted(json);
      return;
    }
    const level = this.#levels.at(-1);
    if (level?.expectsKey === true) {
      this.#entry(level);
      const key = yamlKey(json);
      // YAML limits a key on the same line as its value to 1,024 characters.
      this.#text += key.length > 1_000 ? `? ${key}\n${' '.repeat(level.indent)}:` : `${key}:`;
      level.expectsKey = false;
      return;
    }
    if (level !== undefined && !level.isObject) this.#element(level);
    const lead = level === undefined ? '' : ' ';
    this.#text += `${lead}${yamlScalar(json, (level?.indent ?? 0) + 2)}\n`;
  }

  #open(isObject: boolean): void {
    const outer = this.#levels.at(-1);
    if (outer !== undefined && !outer.isObject) this.#element(outer);
    if (this.#levels.length >= blockDepthMax) {
      this.#deeper = 1;
      this.#text += isObject ? ' {' : ' [';
      return;
    }
    const parent = outer === undefined ? 'none' : outer.isObject ? 'member' : 'element';
    const indent = outer === undefined ? 0 : outer.indent + 2;
    this.#levels.push({ isObject, indent, parent, count: 0, expectsKey: isObject });
  }

  #close(): void {
    const level = this.#levels.pop();
    if (level?.count !== 0) return;
    this.#text += `${level.parent === 'none' ? '' : ' '}${level.isObject ? '{}' : '[]'}\n`;
  }

  #comma(): void {
    const level = this.#levels.at(-1);
    if (level?.isObject === true) level.expectsKey = true;
  }

  #element(level: Level): void {
    this.#entry(level);
    this.#text += '-';
  }

  /** Starts an entry. The first entry of an array element is on the line of the element's dash. */
  #entry(level: Level): void {
    if (level.count > 0) this.#text += ' '.repeat(level.indent);
    else if (level.parent === 'member') this.#text += `\n${' '.repeat(level.indent)}`;
    else if (level.parent === 'element') this.#text += ' ';
    level.count += 1;
  }
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

function isDelimiter(byte: number): boolean {
  return byte === 0x2c || byte === 0x7d || byte === 0x5d || byte <= 0x20;
}
