/** Pages of plugins are below `/apps/<plugin>`, those for the user's own things below `/uc/<plugin>`. */
export function addressOf(plugin: string, path: string, area?: 'own'): string {
  const inner = path.replace(/^\/+/u, '');
  const root = `/${area === 'own' ? 'uc' : 'apps'}/${plugin}`;
  return inner === '' ? root : `${root}/${inner}`;
}

/** Returns whether an address is that of a page of the plugin. */
export function isAddressOf(plugin: string, path: string): boolean {
  const [, area, owner] = path.split('/');
  return (area === 'apps' || area === 'uc') && owner === plugin;
}
