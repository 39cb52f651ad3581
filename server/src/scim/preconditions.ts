import { ScimError } from './scim-error'

/** Throws where a resource is not in the version that the client expects. */
export type Preconditions = (resource: { version: string }) => void

/** Whether a list of versions, as `If-Match` and `If-None-Match` have it, names one. */
export const namesVersion = (list: string, version: string): boolean =>
  list.trim() === '*' ||
  list.split(',').some((tag) => tag.trim().replace(/^W\//, '') === version.replace(/^W\//, ''))

/** Creates the check of `If-Match`. Source: RFC 7644 3.14. */
export const createPreconditions =
  (ifMatch: string | undefined): Preconditions =>
  ({ version }) => {
    if (ifMatch === undefined || namesVersion(ifMatch, version)) return
    throw new ScimError('The resource was changed since.', { status: 412 })
  }
