/**
 * A request as text with placeholders. `{n}`: the number of the request in the run. `{c}`: the connection. `{k}`: the
 * number of the request on its connection. `{m}`: `{n}` modulo 1,000. `{s}`: five scattered digits, which differ for
 * 100,000 consecutive values of `{n}`. `{v}`: the resourceVersion in the last response on the connection. A request
 * without placeholders is compiled once to one buffer.
 */
export type RequestTemplate = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

export type Places = { n: number; c: number; k: number; v: string };

const place = /\{([nckmsv])\}/gu;

/** Returns a function that fills the placeholders and returns the text of the request. */
export function compileRequest(template: RequestTemplate): (places: Places) => Buffer | string {
  const headers = Object.entries(template.headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  const line = compileText(`${template.method} ${template.path} HTTP/1.1\r\n`);
  const body = template.body === undefined ? undefined : compileText(template.body);
  if (body === undefined && typeof line === 'string') {
    const whole = Buffer.from(`${line}${headers}\r\n`, 'latin1');
    return () => whole;
  }
  return (places) => {
    const target = typeof line === 'string' ? line : line(places);
    if (body === undefined) return `${target}${headers}\r\n`;
    const content = typeof body === 'string' ? body : body(places);
    return (
      `${target}${headers}Content-Type: application/json\r\nContent-Length: ${content.length.toString()}\r\n\r\n` +
      content
    );
  };
}

function compileText(text: string): string | ((places: Places) => string) {
  // Requests are sent as Latin-1, so the length of the text must equal its number of bytes.
  if (/[^\x00-\x7f]/u.test(text)) throw new RangeError('a request template must be ASCII');
  const pieces = text.split(place);
  if (pieces.length === 1) return text;
  return (places) => {
    let filled = '';
    for (let index = 0; index < pieces.length; index += 1) {
      const piece = pieces[index] ?? '';
      // `split` by a pattern with a group returns texts and placeholders alternately.
      filled += index % 2 === 0 ? piece : valueAt(piece, places);
    }
    return filled;
  };
}

function valueAt(letter: string, places: Places): string {
  if (letter === 's') return scattered(places.n);
  return (letter === 'm' ? places.n % 1_000 : places[letter as keyof Places]).toString();
}

function scattered(n: number): string {
  // Neither 2 nor 5 divides the factor, so the results differ for 100,000 consecutive numbers.
  return ((n * 61_803) % 100_000).toString().padStart(5, '0');
}
