import { messagesOf } from './messages-of.ts';

export default messagesOf(import.meta.glob('../**/messages/en.json', { eager: true, import: 'default' }));
