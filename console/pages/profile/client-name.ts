/**
 * The marks of browsers in a `User-Agent` header. Browsers based on Chromium also contain Chromium's mark, so they are
 * first.
 */
const browsers: readonly (readonly [string, RegExp])[] = [
  ['Edge', /\bEdgA?\/(\d+)/u],
  ['Opera', /\bOPR\/(\d+)/u],
  ['Samsung Internet', /\bSamsungBrowser\/(\d+)/u],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d+)/u],
  ['Chrome', /\b(?:HeadlessChrome|Chrome|CriOS)\/(\d+)/u],
  ['Safari', /\bVersion\/(\d+).* Safari\//u],
];

const systems: readonly (readonly [string, RegExp])[] = [
  ['Android', /\bAndroid\b/u],
  ['iPadOS', /\biPad\b/u],
  ['iOS', /\biPhone\b/u],
  ['Windows', /\bWindows\b/u],
  ['macOS', /\bMac OS X\b/u],
  ['ChromeOS', /\bCrOS\b/u],
  ['Linux', /\bLinux\b/u],
];

export type ClientName = {
  /**
   * The name of a browser with its version, for example `Firefox 140`, or the first word of another program, such as
   * `curl/8.5.0`.
   */
  readonly program: string;
  readonly system: string | undefined;
};

/** Returns the readable names of the program and the system in a `User-Agent` header; undefined without a header. */
export function clientName(userAgent: string | undefined): ClientName | undefined {
  const text = userAgent?.trim() ?? '';
  if (text === '') return undefined;
  const system = systems.find(([, mark]) => mark.test(text))?.[0];
  for (const [name, mark] of browsers) {
    const version = mark.exec(text)?.[1];
    if (version !== undefined) return { program: `${name} ${version}`, system };
  }
  return { program: text.split(/\s/u, 1)[0] ?? text, system };
}
