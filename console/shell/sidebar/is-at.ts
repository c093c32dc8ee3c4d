/** Returns whether an address is the address of a page, or below it. */
export function isAt(address: string, page: string): boolean {
  return address === page || (page !== '/' && address.startsWith(`${page}/`));
}
