import type { ScimHandler } from './exchange'

/** Handlers of the endpoints of a kind of resource. */
export interface ResourceHandlers {
  list: ScimHandler
  create: ScimHandler
  get: ScimHandler
  replace: ScimHandler
  patch: ScimHandler
  remove: ScimHandler
}
