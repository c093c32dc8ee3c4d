import { messagesOf, type Messages } from './messages-of.ts';

export default messagesOf(import.meta.glob<Messages>('../**/messages/en.json', { eager: true, import: 'default' }));
