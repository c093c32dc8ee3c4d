/** A file that the server serves to the console's page. */
export type WebFile = {
  /** The size when the folder of the file was read. */
  readonly bytes: number;
  /** Resolves with the content, or with undefined if the file has changed or cannot be read. Never rejects. */
  readonly read: () => Promise<Buffer | undefined>;
};

/** A file of a front end. */
export type FrontEndFile = WebFile & {
  /** The SHA-256 digest of the content when the front end was read. */
  readonly sha256: string;
};

/** The built front end that a plugin adds to the console. */
export type FrontEnd = {
  /** A digest of the names and contents of all files. The addresses of the files contain this digest. */
  readonly digest: string;
  /** The files by their paths within the front end, with forward slashes. */
  readonly files: ReadonlyMap<string, FrontEndFile>;
};

/** The names of a front end's module and of its optional style sheet. */
export const frontEndModule = 'index.js';
export const frontEndStyles = 'index.css';

/** The front ends of started plugins. */
export type FrontEndMounts = {
  /** Serves the files. `version` is the plugin's version. */
  mount(plugin: string, version: string | undefined, frontEnd: FrontEnd): void;
  unmount(plugin: string): void;
};

/** The media types of the files that the server serves to the console's page, by file extension. */
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

/** The content encodings in which a build may also store a file, most compact first, with their file extensions. */
export const webEncodings = [
  { name: 'br', extension: '.br' },
  { name: 'gzip', extension: '.gz' },
] as const;
