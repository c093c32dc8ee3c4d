export type VersionName = 'v1alpha1' | 'v1' | 'v2';

export type Shape = {
  /** Oldest first. The last one is preferred. */
  readonly versions: readonly VersionName[];
  /** Whether `tier` is required, so that conversions from the oldest version fill it in. */
  readonly isTiered: boolean;
  /** Whether a length without a unit becomes one in mm. */
  readonly hasUnits: boolean;
};

type Spec = Readonly<Record<string, unknown>>;
type Annotations = Readonly<Record<string, string>>;
type Given = {
  readonly metadata: { readonly annotations?: Annotations };
  readonly spec: Spec;
};

export type Step = {
  readonly from: VersionName;
  readonly to: VersionName;
  readonly up: (object: Given) => object;
  readonly down: (object: Given) => object;
};

const prefix = 'example.com/';
/** The members of v1 that v1alpha1 keeps in annotations. */
const kept = ['color', 'tier', 'grade'] as const;
const unit = `${prefix}unit`;

function changed(object: Given, spec: Spec, annotations: Annotations): object {
  const { annotations: _before, ...metadata } = object.metadata;
  const isBare = Object.keys(annotations).length === 0;
  return { ...object, metadata: isBare ? metadata : { ...metadata, annotations }, spec };
}

function alphaToV1({ isTiered }: Shape): Step {
  return {
    from: 'v1alpha1',
    to: 'v1',
    up: (object) => {
      const { title: name, ...spec } = object.spec;
      const annotations: Record<string, string> = { ...object.metadata.annotations };
      const found: Record<string, unknown> = isTiered ? { tier: 'basic' } : {};
      for (const member of kept) {
        const key = prefix + member;
        if (annotations[key] !== undefined) found[member] = annotations[key];
        Reflect.deleteProperty(annotations, key);
      }
      return changed(object, { name, ...spec, ...found }, annotations);
    },
    down: (object) => {
      const { name: title, ...spec } = object.spec;
      const annotations: Record<string, string> = { ...object.metadata.annotations };
      const left: Record<string, unknown> = { title, ...spec };
      for (const member of kept) {
        const value = left[member];
        Reflect.deleteProperty(left, member);
        if (typeof value === 'string' && !(member === 'tier' && value === 'basic'))
          annotations[prefix + member] = value;
      }
      return changed(object, left, annotations);
    },
  };
}

/** `mode` and the unit of the width are kept in annotations. */
function v1ToV2({ hasUnits }: Shape): Step {
  return {
    from: 'v1',
    to: 'v2',
    up: (object) => {
      const { size: width, ...spec } = object.spec;
      const { [`${prefix}mode`]: mode, ...others } = object.metadata.annotations ?? {};
      const known = { ...spec, ...(mode === undefined ? {} : { mode }) };
      if (width === undefined) return changed(object, known, others);
      const { [unit]: given, ...annotations } = others;
      const measure = given ?? (hasUnits ? 'mm' : '');
      return changed(
        object,
        { ...known, dimensions: { width, ...(measure === '' ? {} : { unit: measure }) } },
        annotations,
      );
    },
    down: (object) => {
      const { dimensions, mode, ...spec } = object.spec;
      const annotations = {
        ...object.metadata.annotations,
        ...(typeof mode === 'string' ? { [`${prefix}mode`]: mode } : {}),
      };
      if (dimensions === undefined) return changed(object, spec, annotations);
      const { width, unit: measure = '' } = dimensions as { readonly width: unknown; readonly unit?: string };
      const isUsual = measure === (hasUnits ? 'mm' : '');
      return changed(object, { ...spec, size: width }, { ...annotations, ...(isUsual ? {} : { [unit]: measure }) });
    },
  };
}

/** The functions between neighbouring versions. They lose nothing. */
export function conversionsOf(shape: Shape): readonly Step[] {
  return [alphaToV1(shape), v1ToV2(shape)].slice(0, shape.versions.length - 1);
}
