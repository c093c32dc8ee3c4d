import { onMounted, onUnmounted } from 'vue';

/**
 * Keeps the focus in the page. When the focused element is removed, for example with its page or after its action, the
 * heading of the page gets the focus. Otherwise the next Tab key would begin at the top of the window.
 */
export function useKeptFocus(main: () => HTMLElement | null): void {
  let last: Element | undefined;
  /** Whether the content has the focus only until a heading exists. */
  let isWaiting = false;

  const observer = new MutationObserver(() => {
    const isLost = last?.isConnected === false;
    if (isLost || isWaiting) requestAnimationFrame(focusHeading);
  });

  function focusHeading(): void {
    const content = main();
    const { activeElement } = document;
    isWaiting &&= activeElement === content;
    const isLost = last?.isConnected === false && (activeElement === null || activeElement === document.body);
    if (content === null || (!isLost && !isWaiting)) return;
    const heading = content.querySelector<HTMLElement>('h1[tabindex]');
    isWaiting = heading === null;
    (heading ?? content).focus({ preventScroll: true });
  }

  function remember({ target }: FocusEvent): void {
    if (target instanceof Element && main()?.contains(target) === true) last = target;
  }

  onMounted(() => {
    document.addEventListener('focusin', remember);
    observer.observe(document.body, { childList: true, subtree: true });
  });
  onUnmounted(() => {
    document.removeEventListener('focusin', remember);
    observer.disconnect();
  });
}
