const hostName = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*\.?$/iu;

export function isHostName(value: string): boolean {
  return hostName.test(value);
}

/**
 * Checks an entry of `ALLOWED_HOSTS`: a host name or an address, perhaps with a port. Returns undefined for a valid
 * entry. Otherwise, returns the problem as a clause that follows the entry in a sentence.
 */
export function allowedHostProblem(value: string): string | undefined {
  const [, address, name = '', port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(.*))?$/u.exec(value) ?? [];
  const isHost = address === undefined ? isHostName(name) : URL.canParse(`http://[${address}]/`);
  if (!isHost) return 'which is not a host name (write an IPv6 address in brackets)';
  const isPort = port === undefined || (/^[1-9]\d{0,4}$/u.test(port) && Number(port) <= 65_535);
  return isPort ? undefined : 'which has an invalid port';
}
