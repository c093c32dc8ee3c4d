import { Composer, Parser, type Document } from 'yaml';

/** The first syntax error of a text. `at` is its offset. */
export class YamlFault extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.name = 'YamlFault';
    this.at = at;
  }
}

/** The position of a fault as the library reports it: an offset, a start and an end, or a token. */
type Place = number | readonly number[] | { readonly offset: number };

/**
 * Stops at the first error or warning, because collecting 100,000 errors in a text of 256 KiB would take seconds.
 * Replaces `onError`, a private member of the library.
 */
class FirstFaultComposer extends Composer {
  constructor() {
    super({
      version: '1.2',
      schema: 'core',
      resolveKnownTags: false,
      // Both options take quadratic time. `YamlReader` compares keys and computes positions instead.
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: 'error',
    });
    let first: YamlFault | undefined;
    // The library catches an exception within a collection, and reports the exception again at the position of the
    // collection. So every call throws the first fault.
    const onError = (place: Place, _code: string, message: string): never => {
      throw (first ??= new YamlFault(message, offsetOf(place)));
    };
    Object.assign(this, { onError });
  }
}

/**
 * Parses one document of YAML 1.2 with the core schema.
 *
 * @throws YamlFault for any other text.
 */
export function parseYaml(text: string): Document.Parsed {
  const composer = new FirstFaultComposer();
  let hasDocument = false;
  for (const token of new Parser().parse(text)) {
    if (token.type === 'error') throw new YamlFault(token.message, token.offset);
    if (token.type === 'doc-end' && !hasDocument) throw new YamlFault('a document ends before its start', token.offset);
    if (token.type === 'document') {
      if (hasDocument) throw new YamlFault('the body contains several documents', token.offset);
      hasDocument = true;
    }
    // The composer yields a document when it reads the next document or the end.
    for (const _ of composer.next(token));
  }
  for (const document of composer.end(true, text.length)) {
    const [problem] = [...document.errors, ...document.warnings];
    if (problem !== undefined) throw new YamlFault(problem.message, problem.pos[0]);
    return document;
  }
  throw new Error('invariant violated: the composer yields a document at the end of the text');
}

function offsetOf(place: Place): number {
  if (typeof place === 'number') return place;
  return 'offset' in place ? place.offset : (place[0] ?? 0);
}
