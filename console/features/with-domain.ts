/** Returns a text with the platform's domain in place of `${domain}`, as in the files of plugins. */
export function withDomain(text: string, domain: string): string {
  return text.replaceAll('${domain}', domain);
}
