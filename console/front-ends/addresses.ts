/** Returns the address of a plugin's page: `/apps/<plugin>`, or `/uc/<plugin>` for pages about the user's own data. */
export function addressOf(plugin: string, path: string, area?: 'own'): string {
  const inner = path.replace(/^\/+/u, '');
  const root = `/${area === 'own' ? 'uc' : 'apps'}/${plugin}`;
  return inner === '' ? root : `${root}/${inner}`;
}

/** Returns whether an address belongs to a page of the plugin. */
export function isAddressOf(plugin: string, path: string): boolean {
  const [, area, owner] = path.split('/');
  return (area === 'apps' || area === 'uc') && owner === plugin;
}
