const mapped = '::ffff:';

/**
 * What counts as one visitor: an IPv4 address, or the /64 of an IPv6 address, as whoever has one address of it has all.
 * An address that cannot be read counts as itself.
 */
export function networkOf(address: string): string {
  const isMapped = address.length > mapped.length && address.slice(0, mapped.length).toLowerCase() === mapped;
  if (isMapped && address.includes('.')) return address.slice(mapped.length);
  if (!address.includes(':')) return address;
  const [withoutZone = ''] = address.split('%', 1);
  const [head = '', tail] = withoutZone.split('::');
  const before = groupsOf(head);
  const after = tail === undefined ? [] : groupsOf(tail);
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length - (withoutZone.includes('.') ? 1 : 0));
  const groups = [...before, ...Array.from({ length: zeros }, () => '0'), ...after];
  return `${groups.slice(0, 4).map(plainGroup).join(':')}::/64`;
}

function groupsOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(':');
}

function plainGroup(group: string): string {
  const value = Number.parseInt(group, 16);
  return Number.isNaN(value) ? group : value.toString(16);
}
