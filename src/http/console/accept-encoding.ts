/**
 * Returns whether an Accept-Encoding header (RFC 9110, 12.5.3) allows a content encoding. `*` allows an encoding that
 * the header does not name. A missing header allows no encoding, because the client may not be able to decode it.
 */
export function acceptsEncoding(header: string | undefined, encoding: string): boolean {
  const weights = new Map((header ?? '').split(',', codingsMax).map(weightOf));
  return (weights.get(encoding) ?? weights.get('*') ?? 0) > 0;
}

/** The maximum number of codings that are read. Browsers send four. */
const codingsMax = 16;

/** Returns a coding and its weight. A malformed weight counts as 0, so the coding is not used. */
function weightOf(part: string): readonly [coding: string, weight: number] {
  const [coding = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
  return [coding, /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/u.test(weight) ? Number(weight) : 0];
}
