import { defineAsyncComponent } from 'vue';

/**
 * The module with the address of `ledgerplane/console-kit` in the browser. `kit-type.ts` compares the module with the
 * kit's declarations.
 */
export { useConsole, useMessages } from '../front-ends/plugin-context.ts';
export { after, every } from '../server/browser-clock.ts';
export { usePermission, useTypes } from '../server/use-server.ts';
export { usePageTitle } from '../shell/page-title.ts';
export { default as PermissionGuard } from '../shell/permission-guard.vue';
export { default as UiButton } from '../ui/controls/ui-button.vue';
export { default as UiCheckbox } from '../ui/controls/ui-checkbox.vue';
export { default as UiField } from '../ui/controls/ui-field.vue';
export { default as UiInput } from '../ui/controls/ui-input.vue';
export { default as UiSelect } from '../ui/controls/ui-select.vue';
export { default as UiTextarea } from '../ui/controls/ui-textarea.vue';
export { default as UiConflicts } from '../ui/editor/ui-conflicts.vue';
export { useFailureText } from '../ui/feedback/failure-text.ts';
export { showToast } from '../ui/feedback/toasts.ts';
export { default as UiBadge } from '../ui/feedback/ui-badge.vue';
export { default as UiEmpty } from '../ui/feedback/ui-empty.vue';
export { default as UiFailure } from '../ui/feedback/ui-failure.vue';
export { default as UiLoading } from '../ui/feedback/ui-loading.vue';
export { default as UiNotice } from '../ui/feedback/ui-notice.vue';
export { default as UiCard } from '../ui/layout/ui-card.vue';
export { default as UiEntry } from '../ui/layout/ui-entry.vue';
export { default as UiFacts } from '../ui/layout/ui-facts.vue';
export { default as UiNavTabs } from '../ui/layout/ui-nav-tabs.vue';
export { default as UiPage } from '../ui/layout/ui-page.vue';
export { default as UiTime } from '../ui/layout/ui-time.vue';
export { confirm } from '../ui/overlay/confirm.ts';
export { default as UiDialog } from '../ui/overlay/ui-dialog.vue';
export { default as UiMenu } from '../ui/overlay/ui-menu.vue';
export { defineConsole } from 'ledgerplane/console-kit';

/** The editor is the largest part of the console, so it is loaded on first use. */
export const UiCodeEditor = defineAsyncComponent(async () => import('../ui/editor/ui-code-editor.vue'));
