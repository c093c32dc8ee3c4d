type Given = { readonly spec: Readonly<Record<string, unknown>> };

/** `tier` adds the member that a newer schema requires, and `grade` one that depends on another member. */
export const steps = {
  tier: (object: unknown): unknown => {
    const { spec } = object as Given;
    return spec['tier'] === undefined ? { ...(object as Given), spec: { ...spec, tier: 'basic' } } : object;
  },
  grade: (object: unknown): unknown => {
    const { spec } = object as Given;
    const { width = 0 } = (spec['dimensions'] ?? {}) as { readonly width?: number };
    return spec['grade'] === undefined
      ? { ...(object as Given), spec: { ...spec, grade: width > 4 ? 'large' : 'small' } }
      : object;
  },
} as const;

export type MigrationName = keyof typeof steps;
