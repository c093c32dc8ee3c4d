import type { TypeName } from 'ledgerplane/client';

export type PluginCondition = {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
};

export type DeclaredType = TypeName & { readonly kind: string };

/** The objects of one type in the package of a plugin. */
export type ShippedObjects = { readonly apiVersion: string; readonly kind: string; readonly names: readonly string[] };

export type MigrationProgress = {
  readonly id: string;
  readonly type: string;
  readonly phase: string;
  readonly objects: number;
  readonly visited: number;
  readonly changed: number;
  readonly failed: number;
};

/** The report of the check before an install or upgrade. */
export type UpgradeReport = {
  readonly from?: string;
  readonly to?: string;
  readonly parts?: {
    readonly types: readonly string[];
    readonly roles: number;
    readonly objects: number;
    readonly routes: number;
    readonly reconcilers: number;
    readonly pages: boolean;
  };
  readonly removedTypes?: readonly { readonly type: string; readonly objects: number }[];
  readonly removedVersions?: readonly { readonly type: string; readonly version: string }[];
  readonly indexes?: readonly { readonly type: string; readonly name: string; readonly change: string }[];
  readonly required?: readonly { readonly type: string; readonly pointer: string; readonly lacking: number }[];
  readonly migrations?: readonly { readonly id: string; readonly type: string; readonly changes: number }[];
  readonly objects?: readonly {
    readonly type: string;
    readonly stored: number;
    readonly checked: number;
    readonly invalid: number;
    readonly failing: number;
  }[];
  readonly invalid?: readonly {
    readonly type: string;
    readonly name: string;
    readonly errors: readonly { readonly pointer?: string; readonly detail?: string }[];
  }[];
};

export type PluginObject = {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
  };
  readonly spec: {
    readonly displayName?: string;
    readonly description?: string;
    readonly version?: string;
    readonly enabled?: boolean;
    readonly deleteData?: boolean;
    readonly homepage?: string;
    readonly package?: { readonly digest: string; readonly bytes: number };
  };
  readonly status?: {
    readonly phase?: string;
    readonly version?: string;
    readonly progress?: number;
    readonly types?: readonly DeclaredType[];
    readonly applied?: readonly ShippedObjects[];
    readonly conditions?: readonly PluginCondition[];
    readonly migrations?: readonly MigrationProgress[];
    readonly upgrade?: UpgradeReport;
  };
};

export function pluginType(domain: string): TypeName {
  return { group: `plugin.${domain}`, version: 'v1alpha1', plural: 'plugins' };
}

/** Returns a path of the platform's API for plugins. */
export function packagePath(domain: string, ...more: readonly string[]): string {
  return ['', 'apis', `api.console.${domain}`, 'v1alpha1', 'plugins', ...more.map(encodeURIComponent)].join('/');
}

export const phases = ['not-started', 'started', 'stopping', 'stopped', 'failed', 'uninstalling'] as const;
export type Phase = (typeof phases)[number];

export function phaseOf({ metadata, status }: PluginObject): Phase {
  if (metadata.deletionTimestamp !== undefined) return 'uninstalling';
  return phases.find((phase) => phase === status?.phase) ?? 'not-started';
}

export const phaseTones: Readonly<Record<Phase, 'good' | 'bad' | 'warn' | 'neutral'>> = {
  'not-started': 'warn',
  started: 'good',
  stopping: 'warn',
  stopped: 'neutral',
  failed: 'bad',
  uninstalling: 'warn',
};

/** Returns the conditions that need attention: a false `Ready`, and every other true condition. */
export function problemsOf(plugin: PluginObject): readonly PluginCondition[] {
  return (plugin.status?.conditions ?? []).filter(({ type, status }) => (status === 'True') !== (type === 'Ready'));
}

export function titleOf({ metadata, spec }: PluginObject): string {
  return spec.displayName ?? metadata.name;
}

/** Returns the number of stored objects that an upgrade would make invalid. */
export function brokenBy(report: UpgradeReport): number {
  const sum = (counts: readonly number[]): number => counts.reduce((total, each) => total + each, 0);
  return (
    sum((report.objects ?? []).map(({ invalid, failing }) => invalid + failing)) +
    sum((report.removedTypes ?? []).map(({ objects }) => objects))
  );
}
