/**
 * The release of Kubernetes in `/version`. kubectl compares the release to its own release, and Helm charts require a
 * minimum.
 */
export const kubernetesRelease = { major: '1', minor: '35' } as const;

/**
 * Returns Kubernetes' members, and the platform's members `name`, `version` and `domain`. `version` is a semantic
 * version. In `gitVersion`, the version is build metadata, which version comparisons ignore. Front ends need the domain
 * for the names of the platform's groups.
 */
export function versionDocument(version: string, domain: string): Readonly<Record<string, string>> {
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
    domain,
  };
}
