import type { ConnectionOptions } from '../../src/providers/connection-options'
import type { SharedCredential } from '../../src/shared-credentials/credential'

/** A credential of a provider that accounts share, and what its owner allows beside the lists. */
export const sharedCredential = (
  key: string,
  allow?: ConnectionOptions['allow'],
): SharedCredential => ({
  provider: { key },
  connection: { options: allow ? { allow } : {} },
})
