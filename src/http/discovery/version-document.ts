/**
 * The release of Kubernetes that provides the tools in this server's tests. Clients read the release from `/version`:
 * kubectl compares it to its own release, and Helm charts require a minimum.
 */
export const kubernetesRelease = { major: '1', minor: '35' } as const;

/**
 * Returns Kubernetes' members, followed by the platform's own members `name` and `version`. `version` is a semantic
 * version. `gitVersion` contains `version` as build metadata, which version comparisons ignore.
 */
export function versionDocument(version: string): Readonly<Record<string, string>> {
  const { major, minor } = kubernetesRelease;
  return {
    major,
    minor,
    // Build metadata must not contain a second "+".
    gitVersion: `v${major}.${minor}.0+ledgerplane.${version.replace('+', '.')}`,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '',
    goVersion: '',
    compiler: `node ${process.versions.node}`,
    platform: `${process.platform}/${process.arch}`,
    name: 'ledgerplane',
    version,
  };
}
