/** Returns whether an address is that of a page, or below it. */
export function isAt(address: string, page: string): boolean {
  return address === page || (page !== '/' && address.startsWith(`${page}/`));
}
