export * from 'ledgerplane/client';
