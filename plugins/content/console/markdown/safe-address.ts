const linkProtocols = ['http:', 'https:', 'mailto:'];
const imagePath = /\.(?:avif|gif|jpe?g|png|svg|webp)$/iu;

/**
 * Returns the absolute address of a link; undefined unless the protocol is http, https or mailto. `base` is the address
 * of the page.
 */
export function linkAddress(address: string, base: string): string | undefined {
  const url = urlOf(address, base);
  return url !== undefined && linkProtocols.includes(url.protocol) ? url.href : undefined;
}

/**
 * Returns the absolute address of an image; undefined unless the path is on this server and has the extension of an
 * image. The content security policy of the page allows no other images. An address with a query is refused, because a
 * request with `?watch=true` would never end.
 */
export function imageAddress(address: string, base: string): string | undefined {
  const url = urlOf(address, base);
  if (url === undefined || url.origin !== new URL(base).origin) return undefined;
  return url.search === '' && url.username === '' && imagePath.test(url.pathname) ? url.href : undefined;
}

function urlOf(address: string, base: string): URL | undefined {
  return URL.canParse(address, base) ? new URL(address, base) : undefined;
}
