export * from '@tanstack/vue-query';
