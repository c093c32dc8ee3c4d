/** A file that the server serves to the console's page. */
export type WebFile = {
  /** The size when the folder of the file was read. */
  readonly bytes: number;
  /** Resolves with the content; with undefined if the file has changed or cannot be read. Never rejects. */
  readonly read: () => Promise<Buffer | undefined>;
};

/** A file of a front end. */
export type FrontEndFile = WebFile & {
  /** The SHA-256 digest of the content when the front end was read. */
  readonly sha256: string;
};

/** The built front end that a plugin adds to the console. */
export type FrontEnd = {
  /** A digest of all names and contents, which is a part of the files' addresses. */
  readonly digest: string;
  /** The files by their paths within the front end, with forward slashes. */
  readonly files: ReadonlyMap<string, FrontEndFile>;
};

/** The module of a front end, and its optional style sheet. */
export const frontEndModule = 'index.js';
export const frontEndStyles = 'index.css';

/** The front ends of started plugins. */
export type FrontEndMounts = {
  /** Serves the files. `version` is the plugin's version. */
  mount(plugin: string, version: string | undefined, frontEnd: FrontEnd): void;
  unmount(plugin: string): void;
};

/** Media types by file extension. Other files of the console, and of front ends, are not served. */
export const webTypes: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.json', 'application/json; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
  ['.png', 'image/png'],
  ['.jpg', 'image/jpeg'],
  ['.webp', 'image/webp'],
  ['.avif', 'image/avif'],
  ['.woff2', 'font/woff2'],
]);

/** The encodings of a file that a build may have written, the most compact one first, with their file extensions. */
export const webEncodings = [
  { name: 'br', extension: '.br' },
  { name: 'gzip', extension: '.gz' },
] as const;
