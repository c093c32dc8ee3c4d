import type { Feature, HomeCard, LogInMethod, ObjectAction, ObjectTab, ProfileSection } from './feature.ts';

/** Every `feature.ts` in a folder of `pages/` is a part of the console; no list names them. */
const modules = import.meta.glob<Feature>('../pages/*/feature.ts', { eager: true, import: 'default' });

const features: readonly Feature[] = Object.values(modules);

type Ordered = { readonly order: number };

const byOrder = (left: Ordered, right: Ordered): number => left.order - right.order;

export const routes = features.flatMap((feature) => feature.routes ?? []);
export const objectTabs: readonly ObjectTab[] = features.flatMap((each) => each.objectTabs ?? []).sort(byOrder);
export const objectActions: readonly ObjectAction[] = features.flatMap((each) => each.objectActions ?? []);
export const homeCards: readonly HomeCard[] = features.flatMap((each) => each.homeCards ?? []).sort(byOrder);
export const profileSections: readonly ProfileSection[] = features
  .flatMap((each) => each.profileSections ?? [])
  .sort(byOrder);
export const logInMethods: readonly LogInMethod[] = features.flatMap((each) => each.logInMethods ?? []).sort(byOrder);
