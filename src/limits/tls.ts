export const tlsFileBytesMax = 1_048_576;
/** The interval at which the server compares the files of TLS_CERT and TLS_KEY with the certificate and key in use. */
export const tlsLookMs = 5_000;
/** The interval at which the server checks whether its own certificate must be renewed. */
export const tlsRenewalLookMs = 3_600_000;
/** The validity of the certificate authority that the server creates. */
export const authorityYears = 10;
/** The validity of the server's certificate from its own authority. */
export const certificateDays = 90;
/** The server renews its own certificate after this share of the validity. */
export const renewalShare = 2 / 3;
/** The validity of a certificate begins this long before its creation, because a client's clock may be behind. */
export const clockSkewMs = 3_600_000;
