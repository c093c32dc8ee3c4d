import { isNode, LineCounter, parseAllDocuments } from 'yaml';

import { unescapeToken } from '../../base/reference-token.ts';

/**
 * Returns the line, counted from 1, of the value at a JSON pointer in a YAML document. Documents are counted from 0,
 * without empty documents. For a missing value, returns the line of the nearest enclosing value. Returns undefined for
 * a missing document.
 */
export type YamlLines = (document: number, pointer: string) => number | undefined;

export function yamlLines(text: string): YamlLines {
  const lineCounter = new LineCounter();
  const parsed = parseAllDocuments(text, { version: '1.2', schema: 'core', logLevel: 'silent', lineCounter });
  const documents = (Array.isArray(parsed) ? parsed : []).filter(({ contents }) => contents !== null);
  return (index, pointer) => {
    const document = documents[index];
    const path = pointer.split('/').slice(1).map(unescapeToken);
    for (let length = path.length; document !== undefined && length >= 0; length -= 1) {
      const found: unknown = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
      const start = isNode(found) ? found.range?.[0] : undefined;
      if (start !== undefined) return lineCounter.linePos(start).line;
    }
    return undefined;
  };
}

/** Returns the line at the end of a YAML parser's message; undefined if the message contains no line. */
export function yamlLine(problem: string): number | undefined {
  const found = / at line ([0-9]+)/u.exec(problem)?.[1];
  return found === undefined ? undefined : Number(found);
}
