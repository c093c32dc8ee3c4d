export * from 'vue-router';
