import { readonly, shallowRef, type Ref } from 'vue';

/** `system` follows the setting of the operating system. */
export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const themeKey = 'ledgerplane.theme';
const theme = shallowRef<Theme>(themes.find((each) => each === localStorage.getItem(themeKey)) ?? 'system');

/** The theme that the user has chosen. */
export const chosenTheme: Readonly<Ref<Theme>> = readonly(theme);

/** Shows a theme, and stores the choice in this browser. */
export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  localStorage.setItem(themeKey, chosen);
  applyTheme();
}

export function applyTheme(): void {
  document.documentElement.dataset['theme'] = theme.value;
}
