import type { AccessLists } from '../../src/platform/access-lists'

/** The lists of a key that has these alone. */
export const accessListsWith = (lists: Partial<AccessLists>): AccessLists => ({
  allowed_models: null,
  denied_models: null,
  allowed_providers: null,
  denied_providers: null,
  allowed_collections: null,
  denied_collections: null,
  allowed_endpoints: null,
  denied_endpoints: null,
  ...lists,
})
