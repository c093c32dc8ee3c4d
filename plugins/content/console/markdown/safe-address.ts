const linkProtocols = ['http:', 'https:', 'mailto:'];
const imagePath = /\.(?:avif|gif|jpe?g|png|svg|webp)$/iu;

/** Returns the address of a link; undefined unless it is one of the web or of e-mail. `base` is that of the page. */
export function linkAddress(address: string, base: string): string | undefined {
  const url = urlOf(address, base);
  return url !== undefined && linkProtocols.includes(url.protocol) ? url.href : undefined;
}

/**
 * Returns the address of an image; undefined unless it is a picture of this server, because the policy of the page
 * allows no other ones. An address with a query could be that of a watch, which never ends.
 */
export function imageAddress(address: string, base: string): string | undefined {
  const url = urlOf(address, base);
  if (url === undefined || url.origin !== new URL(base).origin) return undefined;
  return url.search === '' && url.username === '' && imagePath.test(url.pathname) ? url.href : undefined;
}

function urlOf(address: string, base: string): URL | undefined {
  return URL.canParse(address, base) ? new URL(address, base) : undefined;
}
